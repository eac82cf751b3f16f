/**
 * `validate` and `test` (contract: scan-protocol §2), which run in a worker because user text is compiled only there.
 *
 * A refused filter is a problem; a fault verdict is an answer like any other.
 */
import type { DecoderLimits } from '../codec/walker.js';
import { TRUTH_NAMES } from '../core/truth.js';
import { NO_REASON, type Outcome, REASON_NAMES, reasonOf, VERDICT_NAMES, verdictOf } from '../core/verdict.js';
import { type EvaluatedRecord, Evaluator } from '../filter/evaluate.js';
import { explain, type ExplainedNode } from '../filter/explain.js';
import type { ExplainNode, ExplanationReply, TestReply, ValidateReply } from '../wire/filter-request.js';
import { SCAN_LIMITS, type ScanCompiler } from './compile.js';
import { sharedDecoders } from './payload-decoders.js';
import type { TestTask, ValidateTask } from './task.js';
import { readTestRecord } from './test-record.js';

/** What a filter is and costs. Throws a `Refusal` where it does not compile. */
export function validateFilter(compiler: ScanCompiler, task: ValidateTask): ValidateReply {
  const { digest, canonical, warnings, summary } = compiler.compileText(
    task.filter,
    compiler.shelf.seenBy(task.schemas),
    true,
  );
  const { class: costClass, score, indexable } = summary.cost;
  return {
    digest,
    canonical,
    reads_payload: summary.readsPayload,
    reads_headers: summary.readsHeaders,
    paths: [...summary.paths],
    header_keys: [...summary.headerKeys],
    cost: { class: costClass, score, indexable },
    warnings: warnings.map(({ pointer, reason, hint }) => ({ pointer, reason, hint })),
  };
}

/** What a filter says of one record, and why. Throws a `Refusal` for a schema, filter or record that cannot be used. */
export function testFilter(compiler: ScanCompiler, task: TestTask): TestReply {
  const schemas = compiler.shelf.seenBy(task.schemas);
  const { lowered, digest } = compiler.compileText(task.filter, schemas);
  const record = readTestRecord(task.record);
  const limits: DecoderLimits = {
    maxPayloadBytes: task.limits?.max_payload_bytes ?? SCAN_LIMITS.maxPayloadBytes,
    maxDepth: task.limits?.max_depth ?? SCAN_LIMITS.maxDepth,
  };
  const evaluator = new Evaluator(lowered, sharedDecoders(schemas)(lowered), compiler.regex);
  return {
    policy: { dialect: task.filter.dialect, digest },
    explanation: explanationOf(evaluator, record, limits),
  };
}

/** The explanation of a record, as replies carry it. */
export function explanationOf(evaluator: Evaluator, record: EvaluatedRecord, limits: DecoderLimits): ExplanationReply {
  const { outcome, root } = explain(evaluator, record, limits);
  return { ...verdictMembers(outcome), root: wireNode(root) };
}

/** Verdict and reason, as replies carry them. */
export function verdictMembers(outcome: Outcome): Omit<ExplanationReply, 'root'> {
  const reason = reasonOf(outcome);
  return {
    verdict: VERDICT_NAMES[verdictOf(outcome)],
    ...(reason === NO_REASON ? {} : { fault: REASON_NAMES[reason] }),
  };
}

function wireNode({ label, truth, children }: ExplainedNode): ExplainNode {
  return {
    label,
    ...(truth === undefined ? {} : { truth: TRUTH_NAMES[truth] }),
    ...(children === undefined ? {} : { children: children.map(wireNode) }),
  };
}
