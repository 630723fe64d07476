import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

// Fails if the package, or what an entry loads, has outgrown its budget. An entry loads its file and the chunks that it
// imports at once, as they are published; dependencies are not part of it. Raise a budget in the commit that needs it.

const ROOT = join(import.meta.dirname, '..')
/** Megabytes. */
const PACKED = 1.6
const UNPACKED = 5.5
/** Kilobytes, compressed with gzip. */
const ENTRIES = {
  '.': 35,
  './schema': 7,
  './storage': 12,
  './storage/memory': 11,
  './storage/sqlite': 116,
  './storage/postgres': 122,
  './storage/mariadb': 123,
  './storage/copy': 60,
  './storage/durable-object': 110,
  './http': 29,
  './node': 9,
  './express': 9,
  './fetch': 7,
  './signing-keys': 20,
  './exchange': 32,
  './exchange/files': 32,
  './contracts': 120,
  './testing': 235,
  './standalone': 219,
}

const { exports: entries } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const pack = execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: ROOT, encoding: 'utf8' })
const [{ size, unpackedSize }] = JSON.parse(pack)
const rows = [
  ['packed', size / 1e6, PACKED, 'MB'],
  ['unpacked', unpackedSize / 1e6, UNPACKED, 'MB'],
  ...Object.entries(entries)
    .filter(([, target]) => target.import !== undefined)
    .map(([name, target]) => [name, gzipSync(loadedBy(target.import.default)).length / 1e3, ENTRIES[name] ?? 0, 'kB']),
]
for (const [name, value, budget, unit] of rows) {
  const fits = value <= budget
  console.log(`${fits ? 'ok  ' : 'over'} ${name}: ${value.toFixed(2)} of ${budget} ${unit}`)
  if (!fits) process.exitCode = 1
}

/** The text of a file and of the files that it imports, each once. */
function loadedBy(file) {
  const texts = new Map()
  const add = (path) => {
    if (texts.has(path)) return
    const text = readFileSync(join(ROOT, path), 'utf8')
    texts.set(path, text)
    for (const [, name] of text.matchAll(/^(?:import|export)\b[^;]*?['"]((?:\.|forgelet\b)[^'"]*)['"];/gm))
      add(name.startsWith('.') ? join(dirname(path), name) : entries[name.replace('forgelet', '.')].import.default)
  }
  add(file)
  return [...texts.values()].join('')
}
