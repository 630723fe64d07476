#!/usr/bin/env node
import { runCli } from './run-cli.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

runCli(process.argv.slice(2), {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  stop: stop.signal,
}).then((code) => {
  process.exitCode = code
})
