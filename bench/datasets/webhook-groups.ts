/**
 * Four filters over `webhooks` as four consumer groups would run them: alert routing, review work, new things by
 * headers alone, repositories by age and name. They name only what the payloads' own authors put there.
 */
import type { FilterDocument } from './orbit-filters.js';

export interface WebhookGroup {
  readonly name: string;
  readonly filter: FilterDocument;
}

const string = (value: string) => ({ kind: 'string', value });
const list = (...values: string[]) => ({ kind: 'list', value: values.map(string) });
const headerEq = (key: string, value: string) => ({ header: { key, op: 'eq', value: string(value) } });
const pred = (field: string, op: string, value: unknown) => ({ pred: { field, op, value } });
const document = (expr: unknown, codec = 'json'): FilterDocument => ({ v: 1, evaluator_version: 1, expr, codec });

export const WEBHOOK_GROUPS: readonly WebhookGroup[] = [
  {
    name: 'failed-checks',
    filter: document({
      any: [
        headerEq('event.type', 'security_advisory'),
        { all: [headerEq('event.type', 'check_run'), pred('check_run.conclusion', 'eq', string('failure'))] },
        { all: [headerEq('event.type', 'status'), pred('state', 'in', list('failure', 'error'))] },
      ],
    }),
  },
  {
    name: 'review-queue',
    filter: document({
      all: [
        { present: 'pull_request' },
        pred('pull_request.state', 'eq', string('open')),
        pred('pull_request.draft', 'eq', { kind: 'boolean', value: false }),
      ],
    }),
  },
  {
    name: 'new-things',
    filter: document({ header: { key: 'action', op: 'in', value: list('created', 'opened') } }, 'headers_only'),
  },
  {
    name: 'new-hello-repos',
    filter: document({
      all: [
        {
          pred_as: {
            ...pred('repository.created_at', 'gte', string('2019-05-15T15:20:00Z')),
            coerce: { kind: 'timestamp', format: 'rfc3339' },
          },
        },
        {
          text: {
            field: 'repository.full_name',
            kind: 'regex',
            pattern: '^[a-z]+/hello-\\w+$',
            case_insensitive: true,
          },
        },
      ],
    }),
  },
];

/** The group that benchmarks of one filter run: three paths of the payload, no header. */
export const REVIEW_QUEUE: FilterDocument = WEBHOOK_GROUPS.find(({ name }) => name === 'review-queue')!.filter;
