#!/usr/bin/env node
import { runCli } from './run-cli.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

// The server continues if the reader of its output closes the stream. A full disk cannot be reported anywhere.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

runCli(process.argv.slice(2), {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  stop: stop.signal,
  environment: { FORGELET_DB: process.env['FORGELET_DB'] },
}).then((code) => {
  process.exitCode = code
  // A stopped command may leave pending work that keeps the process alive for long.
  if (stop.signal.aborted) process.exit()
})
