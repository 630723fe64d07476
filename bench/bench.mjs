import { measure } from './http.mjs'

const start = performance.now()
console.table(await measure({ slices: Number(process.argv[2] ?? 20) }))
console.log((performance.now() - start) / 1000)
