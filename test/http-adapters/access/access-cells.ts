import type { ApiResponse } from '../../../src/http-adapters/http.ts'
import type { Route } from '../../../src/http-adapters/routes/route.ts'
import { readText } from '../plain-request.ts'
import type { Answer, RouteRule, Subject } from './access-rules.ts'
import { expected, RULES } from './access-rules.ts'
import type { AccessWorld, Asked } from './access-world.ts'
import { CALLERS, OWNERS } from './access-world.ts'

/** One cell of the table: what a caller asks, and what is answered. */
export interface Cell extends Asked {
  readonly answer: Answer
}

/** The rule of a route. */
export function ruleOf({ operationId }: Pick<Route, 'operationId'>): RouteRule {
  const rule = RULES[operationId]
  if (rule === undefined) throw new TypeError(`the access table has no rule for ${operationId}: write one`)
  return rule
}

/** Every cell of a route: each caller, each thing its path can name, each body; HEAD beside GET. */
export function cellsOf(route: Pick<Route, 'operationId' | 'method' | 'path'>): readonly Cell[] {
  const rule = ruleOf(route)
  const methods = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]
  return subjectsOf(route.path, rule).flatMap((subject) => {
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => subject.values[name] ?? '')
    return CALLERS.flatMap((caller) =>
      methods.map((method) => ({ caller, method, path, body: subject.body, answer: expected(rule, caller, subject) })),
    )
  })
}

function subjectsOf(path: string, rule: RouteRule): readonly Subject[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const { bodies = [undefined] } = rule
  const all = names.reduce<readonly Subject['values'][]>(
    (values, name) => values.flatMap((one) => valuesOf(name, rule).map((value) => ({ ...one, [name]: value }))),
    [{}],
  )
  return all.flatMap((values) => bodies.map((body) => subjectOf(values, body)))
}

function valuesOf(name: string, { values = {} }: RouteRule): readonly string[] {
  if (name === 'owner' || name === 'org') return [...OWNERS.map((owner) => owner.name), 'unknown-name']
  if (name === 'repo') return ['public', 'private', 'nothing-of-that-name']
  const own = values[name]
  if (own === undefined) throw new TypeError(`the access table has no values for {${name}}: add them to the rule`)
  return own
}

function subjectOf(values: Subject['values'], body: string | undefined): Subject {
  const owner = OWNERS.find(({ name }) => name === (values['owner'] ?? values['org']))
  const repository = (['public', 'private'] as const).find((name) => name === values['repo'])
  return { owner, repository, values, body }
}

/** Asks cell by cell, and gives a line for each whose answer is another: the consumer says how many it waits for. */
export async function* mismatches(world: AccessWorld, cells: readonly Cell[]): AsyncGenerator<string, void, void> {
  let before = await world.changes()
  for (const cell of cells) {
    const answer = await answerOf(cell, await world.ask(cell))
    const isChanged = (await world.changes()) !== before
    const wanted = cell.method === 'HEAD' ? cell.answer.slice(0, 3) : cell.answer
    if (answer !== wanted) yield `${nameOf(cell)}: ${answer}, not ${wanted}`
    if (isChanged && cell.answer !== '204') yield `${nameOf(cell)}: something was changed`
    if (isChanged && cell.method === 'PUT') await world.ask({ ...cell, caller: 'root', method: 'DELETE' }) // the next may block too
    if (isChanged) before = await world.changes()
  }
}

async function answerOf({ method }: Cell, reply: ApiResponse): Promise<string> {
  const { status } = reply
  if (method === 'HEAD' || status < 400) return String(status)
  return `${status} ${JSON.parse(await readText(reply)).code}`
}

function nameOf({ caller, method, path, body }: Cell): string {
  return `${method} ${path}${body === undefined ? '' : ` ${body}`} by ${caller}`
}
