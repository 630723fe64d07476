/** A program of docs/frameworks.md, and what it needs beside the page. */
export interface Framework {
  readonly name: string
  /** The heading of its section. */
  readonly section: string
  readonly packages: readonly string[]
  /** The files of a project that the reader has. */
  readonly files?: Readonly<Record<string, string>>
  /** Makes another program of the page's files and commands. */
  change?(text: string): string
  /** Cases of the mount contract that the framework makes impossible, as the page says. */
  readonly excepted?: readonly string[]
}

const MALFORMED = 'a path with a malformed % is 404, and no error is thrown'
/** The cases in which a body is not read, or not to its end. */
const UNREAD = [
  'a body over the limit is 413, also to a client that reads late',
  'a connection stays usable after an unread body',
  'a connection stays usable after a body over the limit',
]

const NEST: Pick<Framework, 'section' | 'packages' | 'files'> = {
  section: 'NestJS',
  packages: [
    ...['@nestjs/common@12.5.1', '@nestjs/core@12.5.1', '@nestjs/platform-express@12.5.1', 'rxjs@7.8.2'],
    ...['@nestjs/platform-fastify@12.5.0', 'reflect-metadata@0.2.2', 'typescript@5.9.3', '@types/express@5.0.6'],
  ],
  files: {
    'package.json': '{}',
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        ...{ module: 'nodenext', target: 'es2023', outDir: 'dist', strict: true, skipLibCheck: true },
        ...{ experimentalDecorators: true, emitDecoratorMetadata: true, types: ['node'] },
      },
    }),
  },
}

const NITRO: Pick<Framework, 'section' | 'packages' | 'files'> = {
  section: 'Nitro',
  packages: ['nitro@3.0.0', 'vite@7.3.8'],
  files: {
    'routes/index.ts': "import { defineHandler } from 'nitro/h3'\nexport default defineHandler(() => 'your page')\n",
  },
}

/** Every program of the page. */
export const FRAMEWORKS: readonly Framework[] = [
  { name: 'NestJS on Express', ...NEST },
  {
    name: 'NestJS on Fastify',
    ...NEST,
    change: (text) =>
      text
        .replace("import { expressHandler } from 'forgelet/express'", "import { nodeHandler } from 'forgelet/node'")
        .replace('expressHandler(', 'nodeHandler(')
        .replace('create(AppModule)', 'create(AppModule, new FastifyAdapter())')
        .replace("import 'reflect-metadata'", "$&\nimport { FastifyAdapter } from '@nestjs/platform-fastify'"),
    excepted: [MALFORMED],
  },
  { name: 'Koa', section: 'Koa', packages: ['koa@3.3.0'] },
  { name: 'hapi', section: 'hapi', packages: ['@hapi/hapi@21.4.10'] },
  { name: 'restify', section: 'restify', packages: ['restify@12.0.0'] },
  { name: 'polka', section: 'polka', packages: ['polka@0.5.2'] },
  {
    name: 'AdonisJS',
    section: 'AdonisJS',
    packages: ['@adonisjs/core@7.5.2', 'reflect-metadata@0.2.2'],
    files: {
      'bin/server.ts': `
import 'reflect-metadata'
import { Ignitor } from '@adonisjs/core'
await new Ignitor(new URL('../', import.meta.url), { importer: (path) => import(path) }).httpServer().start()`,
      'adonisrc.js': `
import { defineConfig } from '@adonisjs/core/app'
const providers = [() => import('@adonisjs/core/providers/app_provider')]
export default defineConfig({ providers, preloads: [() => import('./start/kernel.ts')] })`,
      'config/app.ts': `
import { defineConfig } from '@adonisjs/core/http'
export const appKey = 'a key of at least 32 characters!'
export const http = defineConfig({})`,
      'config/bodyparser.ts': `
import { defineConfig } from '@adonisjs/core/bodyparser'
export default defineConfig({})`,
      'config/encryption.ts': `
import { defineConfig, drivers } from '@adonisjs/core/encryption'
const keys = ['a key of at least 32 characters!']
export default defineConfig({ default: 'gcm', list: { gcm: drivers.aes256gcm({ id: 'gcm', keys }) } })`,
      'config/hash.ts': `
import { defineConfig, drivers } from '@adonisjs/core/hash'
export default defineConfig({ default: 'scrypt', list: { scrypt: drivers.scrypt({}) } })`,
      'config/logger.ts': `
import { defineConfig } from '@adonisjs/core/logger'
export default defineConfig({ default: 'app', loggers: { app: { enabled: false } } })`,
    },
    excepted: [MALFORMED],
  },
  { name: 'h3', section: 'h3', packages: ['h3@2.0.8'], excepted: [MALFORMED] },
  { name: 'Nitro as a middleware', ...NITRO },
  {
    name: 'Nitro with a route',
    ...NITRO,
    change: (text) =>
      text
        .replace('node_middleware', 'node_server')
        .replace('node serve.ts', 'HOST=127.0.0.1 PORT=3000 node .output/server/index.mjs'),
    excepted: ['a malformed Host header causes no failure', ...UNREAD],
  },
  {
    name: 'SvelteKit',
    section: 'SvelteKit',
    packages: [
      ...['@sveltejs/kit@3.2.0', '@sveltejs/adapter-node@6.0.1', '@sveltejs/vite-plugin-svelte@7.3.1'],
      ...['svelte@5.57.3', 'vite@8.3.8'],
    ],
    files: {
      'vite.config.ts': `
import adapter from '@sveltejs/adapter-node'
import { sveltekit } from '@sveltejs/kit/vite'
import { defineConfig } from 'vite'
export default defineConfig({ plugins: [sveltekit({ adapter: adapter() })] })`,
      'src/app.html': '<!doctype html><html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
      'src/routes/+page.svelte': 'your page',
    },
  },
  {
    name: 'Astro',
    section: 'Astro',
    packages: ['astro@7.3.5', '@astrojs/node@11.1.6'],
    files: {
      'astro.config.mjs': `
import node from '@astrojs/node'
import { defineConfig } from 'astro/config'
export default defineConfig({ output: 'server', adapter: node({ mode: 'standalone' }) })`,
      'src/pages/index.astro': '<p>your page</p>',
    },
  },
  {
    name: 'React Router',
    section: 'React Router',
    packages: [
      ...['react-router@8.4.0', '@react-router/node@8.4.0', '@react-router/dev@8.4.0', '@react-router/express@8.4.0'],
      ...['react@19', 'react-dom@19', 'express@5.3.0', 'isbot@5', 'vite@8.3.8', '@react-router/serve@8.4.0'],
    ],
    files: {
      'package.json': '{"type":"module","dependencies":{"isbot":"5"}}', // or the build installs it
      'vite.config.ts': `
import { reactRouter } from '@react-router/dev/vite'
import { defineConfig } from 'vite'
export default defineConfig({ plugins: [reactRouter()] })`,
      'app/routes.ts': "import { index } from '@react-router/dev/routes'\nexport default [index('home.tsx')]\n",
      'app/home.tsx': "export default function Home() { return 'your page' }",
      'app/root.tsx': `
import { Outlet, Scripts } from 'react-router'
export default function App() { return <html lang="en"><body><Outlet /><Scripts /></body></html> }`,
    },
  },
  { name: 'Elysia on Bun', section: 'Elysia', packages: ['elysia@1.4.30'] },
]
