import type { ViteUserConfig } from 'vitest/config'

const config: ViteUserConfig = {
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/house/setup/build-first.ts', 'test/house/setup/tell-skipped.ts'],
    setupFiles: ['test/house/setup/fail-on-console.ts'],
    typecheck: {
      enabled: true,
      include: ['test/**/*.test-d.ts'],
      tsconfig: './tsconfig.types.json', // what they import, not the whole house
      ignoreSourceErrors: true, // `npm run typecheck` is where those are told
    },
    maxWorkers: 2, // most files wait for a database or a process
    // Real servers, processes and programs on a slow machine; nothing waits for these on purpose.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
}

export default config
