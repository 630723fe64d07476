#!/usr/bin/env node
import { constants } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { failureOf, systemCode } from './files.ts'
import { runCli } from './program.ts'

/**
 * By how many percent the heap grows until V8 collects all of it. V8 takes the records of a batch for objects that live long, and
 * by its own choice keeps 60 MB of them beside 15 MB that are used.
 */
const HEAP_GROWTH = 25

/** A wrapper, such as npx, passes a signal on that the terminal has already sent to the whole group. */
const SAME_SIGNAL_MS = 500

// A source may have any size, and the memory is that of its batches. Bun has another engine.
if (['issues', 'copy'].includes(process.argv[2] ?? '') && !('bun' in process.versions))
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`)

// Whatever the command creates is for its owner only: a database, its -wal and -shm, a document with private issues.
process.umask(0o077)

// The first signal stops the command in an orderly way. Another ends the process at once, with the code that a shell
// reports for a process that a signal killed.
const stop = new AbortController()
let stoppedAt = 0
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted && performance.now() - stoppedAt > SAME_SIGNAL_MS) {
      process.exit(128 + constants.signals[signal])
    }
    if (!stop.signal.aborted) stoppedAt = performance.now()
    stop.abort()
  })
}

// The server continues if the reader of its output closes the stream.
let failure: unknown
process.stdout.on('error', (error) => {
  if (systemCode(error) !== 'EPIPE') failure ??= error
})
process.stderr.on('error', () => undefined)
process.on('exit', (code) => {
  if (failure === undefined || code !== 0) return
  process.stderr.write(`forgelet: the result cannot be written: ${failureOf(failure)}\n`)
  process.exitCode = 2
})

function showStatus(line: string): void {
  const columns = process.stderr.columns || 80 // 0: unknown
  // A line that wraps could not be replaced.
  process.stderr.write(`\r${line.slice(0, columns - 1)}\u001b[K`)
}

runCli(process.argv.slice(2), {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  write: (bytes) =>
    new Promise((resolve, reject) => process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))),
  showStatus: process.stderr.isTTY ? showStatus : undefined,
  stop: stop.signal,
  environment: process.env,
}).then((code) => {
  process.exitCode = code
  // A stopped command may leave pending work that keeps the process alive for long.
  if (stop.signal.aborted) process.exit()
})
