import assert from 'node:assert/strict'
import { canonicalIssue } from '../../exchange/exchange.ts'
import type { ExchangeRecord, LabelRecord, MilestoneRecord } from '../../index.ts'
import type { TrackerCase } from './tracker-host.ts'
import { BUG, contextIn, exported, importAll, mustReturn, sampleIssue, sorted } from './tracker-samples.ts'

/** Cases about the labels and milestones of a repository. */
export const labelCases: readonly TrackerCase[] = [
  {
    name: 'a label that exists is left as it is, and one that is missing is created',
    fix: 'write: insert the labels that have no row yet, and leave those that have one: only labelUpdates change them',
    async check(host) {
      await importAll(host, [sampleIssue(1, { labels: [BUG] })])
      await importAll(host, [
        sampleIssue(2, {
          labels: [
            { ...BUG, color: '000000' },
            { name: 'new', color: 'ffffff' },
          ],
        }),
      ])
      const labels = (await exported(host)).map((issue) => ({ labels: issue.labels }))

      mustReturn(host, labels, [{ labels: [BUG] }, { labels: [BUG, { name: 'new', color: 'ffffff' }] }])
    },
  },
  {
    name: 'labels and milestones that exist are replaced by an update, also on the issues that have them',
    fix: 'write: replace the rows of labelUpdates and milestoneUpdates, and keep the issues that refer to them',
    needs: 'labelsAndMilestones',
    async check(host) {
      const labels = [BUG, { name: 'triage', color: 'ededed' }]
      const milestones = [
        { title: '1.0', state: 'open' },
        { title: '2.0', state: 'open' },
      ] as const
      const described = (records: readonly (LabelRecord | MilestoneRecord)[]): readonly ExchangeRecord[] =>
        records.map((one) => ('title' in one ? { kind: 'milestone', milestone: one } : { kind: 'label', label: one }))
      await importAll(host, [...described([...labels, ...milestones]), sampleIssue(1, { labels, milestone: '1.0' })])
      const bug = { name: 'bug', color: '00ff00', description: 'It is fixed.' }
      const done = {
        title: '1.0',
        description: 'The first.',
        deadline: '2024-05-01T00:00:00Z',
        closed: '2024-04-30T00:00:00Z',
        state: 'closed',
      } as const
      await importAll(host, described([bug, done]), { onConflict: 'update' })
      const found = await host.tracker.labelsAndMilestones?.({ repositoryId: String(host.repositoryId) }, contextIn())

      assert.deepEqual(sorted(found?.labels), sorted([bug, ...labels.slice(1)]))
      assert.deepEqual(sorted(found?.milestones), sorted([done, ...milestones.slice(1)]))
      mustReturn(host, await exported(host), [
        canonicalIssue(sampleIssue(1, { labels: [bug, ...labels.slice(1)], milestone: '1.0' })),
      ])
    },
  },
]
