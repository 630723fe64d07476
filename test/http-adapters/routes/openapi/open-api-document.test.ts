import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import published from '../../../../schema/openapi.json' with { type: 'json' }
import type { OpenApiDocument, OpenApiOperation, ServiceName } from '../../../../src/http-adapters/http.ts'
import { routeTable } from '../../../../src/http-adapters/routes/route-table.ts'
import { openWorld, sshKey } from '../../../world.ts'
import { pathTo, plainRequest } from '../../dispatch.ts'

const require = createRequire(import.meta.url)
const manifest = require('../../../../package.json')
const SERVICES = [...new Set(routeTable.map(({ service }) => service))]

function documentOf(options: Parameters<typeof openWorld>[0] = {}): OpenApiDocument {
  return openWorld(options).api.openApi()
}

function operationsOf(document: OpenApiDocument): readonly (readonly [name: string, operation: OpenApiOperation])[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  )
}

/** What redocly says of documents by the rules in redocly.yaml, in one run: its start takes longer than a document. */
function complaintsAbout(documents: readonly object[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'))
  try {
    const files = documents.map((document, index) => {
      const file = join(folder, `openapi-${index}.json`)
      writeFileSync(file, JSON.stringify(document))
      return file
    })
    const program = join(dirname(require.resolve('@redocly/cli/package.json')), 'bin/cli.js')
    const config = join(import.meta.dirname, 'redocly.yaml')
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'lint', ...files, '--config', config], {
      encoding: 'utf8',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' },
    })
    return status === 0 && !/warning|error/i.test(stdout) ? '' : stdout + stderr
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('the OpenAPI document', () => {
  // The linter is a program: npm run mutate gives other tests 10 seconds.
  it('is valid OpenAPI 3.1 to the linter, without a warning, with all services and with each alone', () => {
    const options = [
      {},
      { publicUrl: 'https://forge.test/api/v1' },
      ...SERVICES.map((service) => ({ services: [service] })),
    ]

    expect(complaintsAbout(options.map(documentOf))).toBe('')
  }, 120_000)

  it.each(SERVICES)('has of %s alone what it needs alone', (service: ServiceName) => {
    const document = documentOf({ services: [service] })

    expect(new Set(operationsOf(document).flatMap(([, { tags }]) => tags))).toEqual(new Set([service]))
    expect(document.tags.map(({ name }) => name)).toEqual([service])
  })

  it('names what is shared only where it is used', () => {
    expect(Object.keys(documentOf({ services: ['badges'] }).components.schemas)).toEqual([
      'Badge',
      'BadgeSlugs',
      'Error',
      'Violation',
    ])
  })

  it.each([
    ['https://forge.test/api/v1/', 'https://forge.test/api/v1'],
    [undefined, '.'],
  ])('says of the public address %s that the server is %s', (publicUrl, url) => {
    expect(documentOf({ publicUrl }).servers).toEqual([{ url }])
  })

  it('is the published file, with all services and the limits that are the default', () => {
    expect(documentOf()).toEqual(published)
  })

  it.each([
    [{ defaultPageSize: 7, maxPageSize: 9, maxBodyBytes: 4321, maxImportBytes: 98_765 }, [7, 9, 4321, 98_765]],
    [{ maxPageSize: 20, maxBodyBytes: undefined }, [20, 20, 1_048_576, 67_108_864]],
    [{ maxPageSize: 40, maxBodyBytes: 9 }, [30, 40, 9, 67_108_864]],
  ])('states the limits of the API: %j', (limits, [usual, most, body, document]) => {
    const { parameters, requestBodies } = documentOf({ limits }).components

    expect(parameters['limit']).toMatchObject({ schema: { default: usual, maximum: most } })
    expect(requestBodies['BadgeSlugs']).toMatchObject({ description: expect.stringContaining(`${body} bytes`) })
    expect(requestBodies['IssueDocument']).toMatchObject({ description: expect.stringContaining(`${document} bytes`) })
  })

  it('is that of this release', () => {
    expect(documentOf().info.version).toBe(manifest.version)
  })

  it('is a copy, which a host may change', () => {
    const { api } = openWorld()
    const before = JSON.stringify(api.openApi())
    const document = api.openApi()
    const user: { properties?: { id?: { type?: string } } } = document.components.schemas['User'] ?? {}
    Object.assign(user.properties?.id ?? {}, { type: 'string' })

    expect(JSON.stringify(document)).not.toBe(before)
    expect(JSON.stringify(api.openApi())).toBe(before)
  })

  it('lets in without a credential where an answer is to be had without one', async () => {
    const { api } = openWorld({ signingKey: sshKey })
    const open = operationsOf(documentOf()).filter(([, { security }]) =>
      security.some((requirement) => Object.keys(requirement).length === 0),
    )
    const answered = await Promise.all(
      routeTable.map(async ({ method, path }) => [`${method} ${path}`, await ask(path, method)] as const),
    )

    expect(open.map(([name]) => name).sort()).toEqual(
      answered
        .filter(([, status]) => status !== 401)
        .map(([name]) => name)
        .sort(),
    )

    async function ask(template: string, method: string): Promise<number | undefined> {
      const request = plainRequest({ method, path: pathTo(template), body: '{}' })
      return (await api.dispatch(request, () => null))?.status
    }
  })
})
