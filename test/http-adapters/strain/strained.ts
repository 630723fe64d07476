import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { Holdings } from './strained-server.ts'

/** A server in a process of its own. */
export interface Strained {
  readonly port: number
  /** What it holds, when what can be collected has been. */
  holdings(): Promise<Holdings>
  /** Gives what it holds, and looks again every 5 ms until the next call of `holdings`. */
  watch(): Promise<Holdings>
  stop(): void
}

const root = resolve(import.meta.dirname, '../../..')

/** The server and the sources it imports as one file, for Node. */
export interface Bundle {
  readonly file: string
  remove(): Promise<void>
}

/** Makes the bundle, where it finds the packages that it imports. */
export async function bundleServer(): Promise<Bundle> {
  const require = createRequire(import.meta.url)
  const { build } = createRequire(require.resolve('tsup'))('esbuild')
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'forgelet-strain-'))
  const file = join(folder, 'strained-server.mjs')
  await build({
    entryPoints: [join(import.meta.dirname, 'strained-server.ts')],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'error',
  })
  return { file, remove: () => rm(folder, { recursive: true }) }
}

/** Starts a server of a host. */
export async function startStrained({ file }: Bundle, host: string): Promise<Strained> {
  const child = fork(file, [host], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] })
  const [{ origin }] = await once(child, 'message')

  async function ask(request: 'holdings' | 'watch'): Promise<Holdings> {
    const answer = once(child, 'message')
    child.send(request)
    const [held] = await answer
    return held
  }

  return {
    port: Number(new URL(origin).port),
    holdings: () => ask('holdings'),
    watch: () => ask('watch'),
    stop: () => child.disconnect(),
  }
}
