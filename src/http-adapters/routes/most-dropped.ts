/** Most bytes that an adapter takes in and drops of a body nobody wants: 64 MiB. Source: docs/behaviour.md, Over HTTP */
export const MOST_DROPPED = 67_108_864
