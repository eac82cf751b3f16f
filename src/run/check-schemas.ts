/**
 * The registry of writer schemas, compiled once in a worker before anything depends on it: a schema that does not compile
 * refuses to start, by its file and the place in it.
 */
import type { RegisteredSchema } from '../catalog/schema-folder.js';
import { Refusal } from '../core/error-codes.js';
import type { ScanPool } from '../pool/scan-pool.js';
import { schemaCompileMs } from './compile-time.js';

/**
 * Throws the `Refusal` of the first schema that does not compile, or not in its time. One task each, so that time is
 * bounded for each.
 */
export async function checkSchemas(
  pool: Pick<ScanPool, 'run'>,
  schemas: readonly Pick<RegisteredSchema, 'id' | 'file' | 'bytes'>[],
): Promise<void> {
  for (const schema of schemas) {
    const { id, file } = schema;
    const reply = await pool.run({ kind: 'schema', id }, schemaCompileMs([schema]));
    if (!('problem' in reply)) continue;
    const { field, detail, ...rest } = reply.problem;
    if (rest.code === 'backend' && rest.limit !== undefined) {
      throw new Refusal({
        code: 'invalid_request',
        detail: `${file}: The schema takes longer than ${rest.limit} ms to compile. The text of a .proto file that gives one message thousands of fields does; its descriptor set does not.`,
        limit: rest.limit,
      });
    }
    const place = field === undefined || field === '' || detail.includes(field) ? '' : ` (at ${field})`;
    const [first, ...lines] = detail.split('\n');
    throw new Refusal({ ...rest, detail: [`${file}: ${first}${place}`, ...lines].join('\n') });
  }
}
