import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A child process that is talked to in lines: one request, one answer. */
export interface TalkingChild {
  /** Sends a line and gives the next line it says. */
  ask(line: string): Promise<string>
  /** Lets it end, and checks that it ends well. */
  end(): Promise<void>
}

/** The path of a script beside these tests. The scripts run the built package in `dist`. */
export function scriptPath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

/** Starts a script and waits until it says it is ready. */
export async function startTalkingChild(script: string, ...args: readonly string[]): Promise<TalkingChild> {
  const child = spawn(process.execPath, [scriptPath(script), ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const line = await lines.next()
    if (line.done === true) throw new Error(`${script} ended before it answered`)
    return line.value
  }
  const greeting = await next()
  if (greeting !== 'ready') throw new Error(`${script} said ${greeting}`)

  return {
    ask(line) {
      child.stdin.write(`${line}\n`)
      return next()
    },
    async end() {
      child.stdin.end()
      const [code] = await exitOf(child)
      if (code !== 0) throw new Error(`${script} ended with ${String(code)}`)
    },
  }
}

/** How a child process ended: its exit code, or the signal that killed it. */
export async function exitOf(child: ChildProcess): Promise<readonly [code: number | null, signal: string | null]> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return [child.exitCode, child.signalCode]
}
