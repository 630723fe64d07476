import type { SpawnSyncOptionsWithStringEncoding } from 'node:child_process'
import { spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { definedCommands, runForgelet, runForgeletProcess } from '../start-forgelet.ts'

// What the command shows of itself: its version and its help.

const program = definedCommands()
const commands = program.commands.flatMap((one) => (one.commands.length === 0 ? [one] : one.commands))

describe('forgelet', () => {
  test('shows its version and its help, as a process', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    expect(await runForgeletProcess(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
    const help = { code: 0, out: expect.stringContaining('serve the Gitea API from a database'), err: '' }
    expect(await runForgeletProcess(['--help'])).toEqual(help)
    expect(await runForgeletProcess(['help'])).toEqual(help)
  })

  test('ends with exit code 2 if its result could not be written, and says so', () => {
    const unwritable = openSync('package.json', 'r')
    const options: SpawnSyncOptionsWithStringEncoding = { stdio: ['ignore', unwritable, 'pipe'], encoding: 'utf8' }
    const { status, stderr } = spawnSync(process.execPath, ['dist/cli.js', 'openapi'], options)
    expect([status, stderr]).toEqual([2, 'forgelet: the result cannot be written: EBADF\n'])
  })

  test.each(
    commands.map(
      (command) => [`${command.parent === program ? '' : command.parent?.name()} ${command.name()}`, command] as const,
    ),
  )('shows with%s --help examples, exit codes and FORGELET_DB, in lines that fit', async (name, { options }) => {
    const { code, out } = await runForgelet([...name.trim().split(' '), '--help'])
    expect([code, out.includes('variable FORGELET_DB')]).toEqual([0, options.some(({ long }) => long === '--db')])
    for (const { long } of options) expect(out).toMatch(new RegExp(`^  (-\\w, )?${long} `, 'm'))
    expect(out).toContain('\n\nExamples\n')
    expect(out).toContain('\nExit codes\n  0 done\n')
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([])
  })
})
