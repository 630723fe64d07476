import { execFileSync } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readPrivateKey, revokeKey } from 'openpgp'
import { beforeEach, describe, expect, test } from 'vitest'
import { describeWith } from '../programs.ts'
import { newFolder, runForgelet, runForgeletProcess, startForgelet } from '../start-forgelet.ts'

let folder: string
beforeEach(async () => {
  folder = await newFolder()
})

/** Generates a key, and returns its file and its fingerprint. */
async function generate(name: string, format: 'openpgp' | 'ssh') {
  const file = join(folder, name)
  const who = ['--name', 'Example Forge', '--email', 'forge@example.com', '--out', file]
  const { code, out } = await runForgelet(['keys', 'generate', '--format', format, ...who])
  expect(code).toBe(0)
  return { file, fingerprint: out.trim() }
}

describe('forgelet keys', () => {
  test.each(['openpgp', 'ssh'] as const)('generates a key of %s for its owner alone, and shows it', async (format) => {
    const { file, fingerprint } = await generate('key', format)
    const { out } = await runForgelet(['keys', 'show', file])

    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(`${file}.pub`)).mode & 0o777).toBe(0o644 & ~process.umask())
    expect(out).toContain(`format       ${format}\n`)
    expect(out).toContain(`fingerprint  ${fingerprint}\n`)
    expect(out).toContain('expires      never\n')
    expect(JSON.parse((await runForgelet(['keys', 'show', `${file}.pub`, '--json'])).out)).toMatchObject({
      fingerprint,
      ...(format === 'ssh' ? { comment: 'Example Forge <forge@example.com>' } : { isRevoked: false }),
    })
  })

  test('warns of a revoked key when it is served, and not of a former one', async () => {
    const [{ file }, { file: other }] = [await generate('key', 'openpgp'), await generate('other', 'openpgp')]
    const privateKey = await readPrivateKey({ armoredKey: await readFile(file, 'utf8') })
    const { publicKey } = await revokeKey({ key: privateKey })
    await writeFile(join(folder, 'revoked.asc'), publicKey)
    const keys = ['--signing-key', join(folder, 'revoked.asc'), '--signing-key', other]
    const said = []
    for (const order of [keys, [...keys.slice(2), ...keys.slice(0, 2)]]) {
      const server = await startForgelet(['--db', ':memory:', ...order])
      await expect.poll(async () => (await fetch(`${server.url}/signing-key.gpg`)).status).toBe(200)
      said.push((await server.stop()).err.match(/warning: .*/g))
    }

    expect(said).toEqual([["warning: the signing key is revoked; sign with another { format: 'openpgp' }"], null])
  })

  test('does not write over a file, and refuses a name that is none', async () => {
    const { file } = await generate('key', 'ssh')
    const before = await readFile(file, 'utf8')
    const again = ['keys', 'generate', '--email', 'forge@example.com', '--out', file]

    expect(await runForgelet([...again, '--name', 'Forge'])).toMatchObject({
      code: 2,
      err: `forgelet: --out ${file} cannot be written: the file exists; name a new one\n`,
    })
    expect(await runForgelet([...again, '--name', '<x>'])).toMatchObject({ code: 2 })
    expect(await readFile(file, 'utf8')).toBe(before)
  })

  test('does not repeat a key in place of its path', async () => {
    const { file } = await generate('key', 'ssh')
    const key = await readFile(file, 'utf8')
    for (const name of [key, key.replaceAll('\n', ' ')]) {
      const { code, err } = await runForgelet(['keys', 'show', '--', name])

      expect(code).toBe(1)
      expect(err).toContain('the path is itself a key')
      expect(err).not.toContain(key.split('\n')[2])
    }
  })
})

test('forgelet serve serves several signing keys, the first as the current one', async () => {
  const [one, two, gpg] = [await generate('one', 'ssh'), await generate('two', 'ssh'), await generate('gpg', 'openpgp')]
  const options = ['--db', ':memory:', ...[one, two, gpg].flatMap(({ file }) => ['--signing-key', file])]
  const { url, stop } = await startForgelet(options, { folder })
  const [pub, asc] = await Promise.all(['pub', 'gpg'].map((name) => fetch(`${url}/signing-key.${name}`)))

  expect((await pub?.text())?.trim().split('\n')).toHaveLength(2)
  expect(await asc?.text()).toContain('BEGIN PGP PUBLIC KEY BLOCK')
  expect((await stop()).err).toContain(`signing key: ssh ${one.fingerprint}\n`)
})

describeWith(['git', 'ssh-keygen'], 'forgelet keys show git', () => {
  test('shows the key that git signs with in this folder, and says how to set one', async () => {
    const { file, fingerprint } = await generate('key', 'ssh')
    const config = join(folder, 'config')
    const environment = { GIT_CONFIG_GLOBAL: config, GIT_CONFIG_NOSYSTEM: '1', HOME: folder }
    await writeFile(config, '[gpg]\nformat = ssh\n')
    const without = await runForgeletProcess(['keys', 'show', 'git'], { folder, environment })
    execFileSync('git', ['config', '--file', config, 'user.signingKey', `${file}.pub`])
    const { out } = await runForgeletProcess(['keys', 'show', 'git'], { folder, environment })

    expect(without).toMatchObject({ code: 1, err: expect.stringContaining('git config user.signingKey') })
    expect(out).toContain(`fingerprint  ${fingerprint}\n`)
  })
})
