import type { AskingMethod } from '../asking.ts'
import { methodsAbout } from '../asking.ts'

const issue = { id: '7', repositoryId: '10', kind: 'issue' } as const

/** The methods of pins. */
export const pinMethods: readonly AskingMethod[] = [
  ...methodsAbout({ repositoryId: '10' }, 'REPOSITORY_NOT_FOUND', [
    ['pins.pin', 'pins.write', ({ pins }, who) => pins.pin(who, issue)],
    ['pins.unpin', 'pins.write', ({ pins }, who) => pins.unpin(who, issue)],
    ['pins.move', 'pins.write', ({ pins }, who) => pins.move(who, { issue, position: 1 })],
    ['pins.list', 'pins.read', ({ pins }, who) => pins.list(who, issue)],
    ['pins.positions', 'pins.read', ({ pins }, who) => pins.positions(who, [issue, { ...issue, id: '8' }])],
    ['pins.allowed', 'pins.read', ({ pins }, who) => pins.allowed(who, 10)],
    ['pins.history', 'pins.read', ({ pins }, who) => pins.history(who, issue)],
  ]),
]
