/** Where a forge keeps its operations for the HTTP routes; the same symbol in every copy of the package. */
export const operationsDoor: unique symbol = Symbol.for('forgelet.operations')
