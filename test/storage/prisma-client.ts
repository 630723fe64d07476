import { getPrismaClient } from '@prisma/client/runtime/client'

/** The databases beneath a client of Prisma, as its schema names them. */
type Provider = 'postgresql' | 'mysql'

type Config = Parameters<typeof getPrismaClient>[0]

/** The compiler knows it only with the types of a browser. */
declare const WebAssembly: { readonly Module: new (bytes: Uint8Array) => object }

/**
 * Returns the class that `prisma generate` writes for a schema without models: raw statements and transactions. The
 * command itself brings 150 MB of programs with it.
 */
export function prismaClientClass(provider: Provider): ReturnType<typeof getPrismaClient> {
  const config: Config = {
    previewFeatures: [],
    clientVersion: '7.10.0',
    engineVersion: '0edf323efd1d98336f3f0a68684b56f689b900d3',
    activeProvider: provider,
    inlineSchema: `datasource db {\n  provider = "${provider}"\n}\n`,
    runtimeDataModel: { models: {}, enums: {}, types: {} },
    parameterizationSchema: { strings: [], graph: 'AAAA' }, // three counts of zero
    compilerWasm: {
      getRuntime: () => import(`@prisma/client/runtime/query_compiler_fast_bg.${provider}.mjs`),
      async getQueryCompilerWasmModule() {
        const { wasm } = await import(`@prisma/client/runtime/query_compiler_fast_bg.${provider}.wasm-base64.mjs`)
        return new WebAssembly.Module(Buffer.from(wasm, 'base64'))
      },
      importName: './query_compiler_fast_bg.js',
    },
  }
  return getPrismaClient(config)
}
