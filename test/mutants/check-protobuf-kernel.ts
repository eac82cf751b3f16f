/**
 * What a mutant of the Protobuf walker over the kernel has to survive, in one process without a test runner: random payloads
 * of random schemas, whole, cut and changed, against the decoder; elements in more runs than the kernel notes; and which
 * of all those payloads the kernel reads itself. Prints `agree` or fails.
 */
import { compileProtoText } from '../../src/codec/protobuf/proto-text.js';
import { compileProtobuf } from '../../src/codec/protobuf/schema.js';
import { NO_REASON } from '../../src/core/verdict.js';
import {
  fittingProtobufPaths,
  randomDescriptorSet,
  randomPayload,
  randomProtobufPaths,
} from '../support/random-protobuf.js';
import { ProtobufBytes } from '../support/random-protobuf-bytes.js';
import { EVERY_KIND, EVERY_KIND_MESSAGE } from '../support/random-protobuf-messages.js';
import { ProtobufTrial } from '../support/random-protobuf-trial.js';
import { Seeded } from '../support/seeded.js';

const LIMITS = { maxPayloadBytes: 1 << 20, maxDepth: 64 };
const PAYLOAD_BYTES_MAX = 4000;

const plain = new ProtobufBytes();
const kind = compileProtoText(EVERY_KIND, EVERY_KIND_MESSAGE);

function payloads(random: Seeded, schemas: number, chanceRequired: number): void {
  for (let round = 0; round < schemas; round++) {
    const pair = [0, 1].map(() => compileProtobuf(randomDescriptorSet(random, chanceRequired), 'r.M0'));
    const root = pair[0]!.root;
    const paths = random.chance(0.2) ? randomProtobufPaths(random) : fittingProtobufPaths(random, root);
    const limits = { maxPayloadBytes: random.pick([1 << 20, 100]), maxDepth: random.pick([64, 127, 4, 2, 0]) };
    // Two walkers, so that one finds what the other left.
    const trials = [paths, []].map((wanted) => new ProtobufTrial(pair, wanted, limits));
    const style = { chanceLeft: random.pick([0, 0.2, 0.6]), chanceFault: random.pick([0, 0, 0.05]), levelsMax: 2 };
    for (let index = 0; index < 16; index++) {
      const schema = index % 2;
      const payload = Uint8Array.from(randomPayload(random, pair[schema]!.root, style));
      if (payload.length > PAYLOAD_BYTES_MAX) continue;
      for (const trial of trials) trial.check(payload, schema);
      for (let cut = 0; cut < 6; cut++) trials[0]!.check(payload.subarray(0, random.below(payload.length + 1)), schema);
      for (let change = 0; change < 6 && payload.length > 0; change++) {
        const at = random.below(payload.length);
        const before = payload[at]!;
        payload[at] = random.pick([0x00, 0x7f, 0x80, 0xff, before ^ 1, before + 8]);
        trials[0]!.check(payload, schema);
        payload[at] = before;
      }
    }
  }
}

/** Elements of two fields in turn, so that each stands alone, fewer and more than the kernel notes. */
function runs(): void {
  const trial = new ProtobufTrial([kind], [['list'], ['texts'], ['texts', 1030]], LIMITS);
  for (const count of [3, 1024, 1025, 2000]) {
    const one = plain.joined([plain.tag(19, 0), plain.varint(7n), plain.tag(22, 2), plain.sized(Uint8Array.of(0x61))]);
    const all = plain.joined(Array.from({ length: count }, () => one));
    // The first element again, once more, or not.
    for (const more of [0, 3]) {
      if (trial.check(plain.joined([all, one.subarray(0, more)])) !== NO_REASON) throw new Error('refused');
    }
  }
}

/** Varints of every length, whole and cut, with every last byte that matters. */
function varints(): void {
  const trial = new ProtobufTrial([kind], [['int64'], ['nested'], ['uint64']], LIMITS);
  for (let length = 1; length <= 11; length++) {
    for (const last of [0x00, 0x01, 0x02, 0x7f]) {
      for (const tag of [8, 9, 17, 2000]) {
        const varint = Uint8Array.from({ length }, (_, at) => (at < length - 1 ? 0x80 | at : last));
        const payload = plain.joined([plain.tag(tag, tag === 17 ? 2 : 0), varint]);
        for (let end = 0; end <= payload.length; end++) trial.check(payload.subarray(0, end));
        trial.check(plain.joined([varint, Uint8Array.of(0)]));
      }
    }
  }
}

/** Texts of every length with something at every place, before other values and at the end. */
function texts(): void {
  const trial = new ProtobufTrial([kind], [['string']], LIMITS);
  for (let length = 0; length <= 70; length++) {
    for (let at = 0; at < length; at++) {
      const text = Buffer.alloc(length, 'x');
      text[at] = 0x80;
      trial.check(plain.joined([plain.tag(14, 2), plain.sized(text)]));
    }
    const clean = plain.joined([plain.tag(14, 2), plain.sized(Buffer.alloc(length, 'x'))]);
    trial.check(plain.joined([clean, plain.tag(15, 2), plain.sized(Buffer.alloc(40, 0xff))]));
  }
}

/** Messages in each other, up to the limit and beyond. */
function depths(): void {
  for (const maxDepth of [0, 1, 64, 127]) {
    const trial = new ProtobufTrial([kind], [['nested', 'nested', 'int32']], { maxPayloadBytes: 1 << 20, maxDepth });
    let payload: Uint8Array = Uint8Array.of(0x18, 0x05);
    for (let level = 1; level <= maxDepth + 2; level++) {
      payload = plain.joined([plain.tag(17, 2), plain.sized(payload)]);
      trial.check(payload);
      trial.check(payload.subarray(0, payload.length - 1));
    }
  }
}

payloads(new Seeded(11), 260, 0);
payloads(new Seeded(12), 100, 0.3);
runs();
varints();
texts();
depths();
console.log('agree');
