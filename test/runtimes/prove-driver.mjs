// Proves one SQLite driver on the runtime that runs this: the published contract, and what drivers do each in their own way.
// Arguments: the driver as it is imported, and the folder of the built package.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fileNameCases, handleCases, memoryCases } from './contract-cases.mjs'
import { driverCases } from './driver-cases.mjs'
import { loadDriver } from './drivers.mjs'
import { Report } from './report.mjs'

const [name, folder] = process.argv.slice(2)
const dist = resolve(folder)
const forgelet = Object.assign({}, ...(await Promise.all(['index', 'storage/sqlite', 'testing'].map(entry))))
const parts = { forgelet, driver: await loadDriver(name, dist) }

const cases = [handleCases, memoryCases, driverCases].flatMap((make) => make(parts))
// A file name is opened with better-sqlite3, whatever the runtime.
if (name === 'better-sqlite3') cases.push(...fileNameCases(parts))

const report = new Report()
await report.run(cases)
report.end()

function entry(name) {
  return import(pathToFileURL(`${dist}/${name}.js`).href)
}
