import type { Step } from '../model/step.ts'

/** What one lane of a child process said: the calls that were answered, and the one that was not. */
export interface ToldLane {
  readonly answered: readonly { readonly step: Step; readonly outcome: string }[]
  readonly inFlight: Step | undefined
}

/** Reads what the lanes of a child process said before it was killed. A line that was cut off was never said. */
export function reportedSteps(text: string): ReadonlyMap<string, ToldLane> {
  const lanes = new Map<string, ToldLane>()
  for (const line of text.split('\n').slice(0, -1)) {
    const [, mark, lane = '', rest = ''] = /^([<>]) (\S+) (.*)$/.exec(line) ?? []
    const { answered, inFlight } = lanes.get(lane) ?? { answered: [], inFlight: undefined }
    if (mark === '>' && inFlight === undefined) {
      lanes.set(lane, { answered, inFlight: JSON.parse(rest) })
    } else if (mark === '<' && inFlight !== undefined) {
      lanes.set(lane, { answered: [...answered, { step: inFlight, outcome: rest }], inFlight: undefined })
    } else {
      throw new SyntaxError(`a child process said something out of order: ${line}`)
    }
  }
  return lanes
}
