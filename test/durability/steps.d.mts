import type { Actor, Forge, ForgeOptions } from '../../src/index.ts'

export const PORTS: Pick<ForgeOptions<Actor, unknown>, 'policy' | 'membership' | 'limits'>
export const LANES: readonly string[]
export function step<Tx>(forge: Forge<Actor, Tx>, lane: string, n: number): Promise<string>
