// Proves one SQLite driver on the runtime that runs this: the published contract, withTransactionSync, and what drivers do each in
// their own way. One line for each failure, and a last line with the counts; the exit code is 1 when something failed.
// Arguments: the driver as it is imported, and the folder of the built package.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fileNameCases, handleCases, memoryCases } from './contract-cases.mjs'
import { driverCases } from './driver-cases.mjs'
import { loadDriver } from './drivers.mjs'
import { withTransactionCases } from './with-transaction-cases.mjs'

/** Milliseconds that a case may take: some race hundreds of writers. */
const PATIENCE = 30_000

const [name, folder] = process.argv.slice(2)
const dist = resolve(folder)
const forgelet = Object.assign({}, ...(await Promise.all(['index', 'storage/sqlite', 'testing'].map(entry))))
const parts = { forgelet, driver: await loadDriver(name, dist) }

const cases = [handleCases, memoryCases, withTransactionCases, driverCases].flatMap((make) => make(parts))
// A file name is opened with better-sqlite3, whatever the runtime.
if (name === 'better-sqlite3') cases.push(...fileNameCases(parts))

let failed = 0
for (const one of cases) {
  try {
    await inTime(one.run())
  } catch (error) {
    failed += 1
    say(`FAIL  ${one.name}: ${error instanceof Error ? error.stack : String(error)}`)
  }
}
say(`${cases.length - failed} passed, ${failed} failed`)
// Not process.exit: a handle or a timer that a storage forgot keeps the process here, and is a failure of its own.
process.exitCode = failed === 0 && cases.length > 0 ? 0 : 1

function say(line) {
  process.stdout.write(`${line}\n`)
}

function entry(name) {
  return import(pathToFileURL(`${dist}/${name}.js`).href)
}

async function inTime(work) {
  let timer
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${PATIENCE} ms`)), PATIENCE)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
