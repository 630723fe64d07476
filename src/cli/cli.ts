#!/usr/bin/env node
import { runCli } from './run-cli.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

// A reader that goes away is no reason to stop serving, and a full disk has nowhere to be told.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

runCli(process.argv.slice(2), {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  stop: stop.signal,
  environment: { FORGELET_DB: process.env['FORGELET_DB'] },
}).then((code) => {
  process.exitCode = code
  // What a command that was told to stop has left may wait for long.
  if (stop.signal.aborted) process.exit()
})
