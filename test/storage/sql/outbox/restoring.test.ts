import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { outbox } from '../../../../src/testing/storage-contract/samples/outbox.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
import { newFile, openStorage } from '../database-files.ts'

const MAIL = { name: 'mail', holder: 'one' }

test('after a restore a consumer goes on with the next event, and the cursor of a reader is refused', async () => {
  const [file, copy] = [newFile(), newFile()]
  const before = await openStorage(file)
  await pin(before, BOARD, '1')
  const { cursor } = await before.events.read({ after: undefined, limit: 10 })
  await before.events.claim(MAIL, 60_000)
  await before.events.advance(MAIL, cursor)
  const host = new Database(file)
  await host.backup(copy)
  host.close()
  for (const issueId of ['2', '3', '4']) await pin(before, BOARD, issueId)
  const lost = await before.events.read({ after: cursor, limit: 10 })
  await before.events.claim(MAIL, 60_000)
  await before.events.advance(MAIL, lost.cursor)

  const restored = await openStorage(copy)
  await pin(restored, BOARD, '5')
  await expect(async () => restored.events.read({ after: lost.cursor, limit: 10 })).rejects.toMatchObject({
    code: 'CURSOR_AHEAD',
    details: { newest: (await restored.events.read({ after: undefined, limit: 10 })).cursor },
  })
  expect(await restored.events.claim(MAIL, 60_000)).toEqual({ cursor })
  await expect(async () => restored.events.advance(MAIL, lost.cursor)).rejects.toMatchObject({ code: 'CURSOR_AHEAD' })
  expect(await restored.events.claim(MAIL, 60_000)).toEqual({ cursor })
  expect((await outbox(restored)).map(({ issueId }) => issueId)).toEqual(['1', '5'])
})
