import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Kills a process and its children at once, and waits until none of them runs. */
export async function killAll(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP') // it makes no more children
  const pids = [...childrenOf(pid), pid]
  for (const one of pids) {
    try {
      process.kill(one, 'SIGKILL')
    } catch {
      // it has ended by itself
    }
  }
  while (pids.some(isAlive)) await pause(5)
}

/** Sends a signal to a process and its children. */
export function signalAll(pid: number | undefined, signal: 'SIGSTOP' | 'SIGCONT'): void {
  if (pid === undefined) throw new TypeError('the process was not started')
  for (const one of [pid, ...childrenOf(pid)]) process.kill(one, signal)
}

/** Whether a process runs; one that has ended and is only remembered does not. */
export function isAlive(pid: number): boolean {
  const stat = statOf(pid)
  return stat !== undefined && stat.state !== 'Z' && stat.state !== 'X'
}

function childrenOf(pid: number): readonly number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((one) => statOf(one)?.parent === pid)
}

/** What Linux reports about a process; undefined when it is gone. */
function statOf(pid: number): { readonly state: string | undefined; readonly parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before may hold anything
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}
