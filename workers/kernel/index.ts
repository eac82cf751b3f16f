/**
 * The kernel's public face: what `src/core/kernel.ts` on the other side knows it by.
 *
 * It is AssemblyScript: the syntax of TypeScript, compiled ahead of time to WebAssembly with SIMD (`npm run build`).
 * Everything here works in place on fixed regions of one memory (`layout.ts`), many records a call, and holds no state
 * but what those regions hold.
 */
export {
  AVRO_IMAGE_AT,
  AVRO_IMAGE_BYTES,
  AVRO_SLOTS_AT,
  AVRO_SLOTS_BYTES,
  CBOR_IMAGE_AT,
  CBOR_IMAGE_BYTES,
  CBOR_SLOTS_AT,
  CBOR_SLOTS_BYTES,
  FRAME_ROWS,
  FRAMES_AT,
  FRAMES_BYTES,
  HEADER_IMAGE_AT,
  HEADER_IMAGE_BYTES,
  HEADER_SLOTS_AT,
  HEADER_SLOTS_BYTES,
  NEEDLES_AT,
  NEEDLES_BYTES,
  PATH_IMAGE_AT,
  PATH_IMAGE_BYTES,
  PATH_SLOTS_AT,
  PATH_SLOTS_BYTES,
  PROTOBUF_IMAGE_AT,
  PROTOBUF_IMAGE_BYTES,
  PROTOBUF_RUNS,
  PROTOBUF_RUNS_AT,
  PROTOBUF_RUNS_BYTES,
  PROTOBUF_SLOTS_AT,
  PROTOBUF_SLOTS_BYTES,
  WINDOW_AT,
  WINDOW_BYTES,
} from './layout';
export { walkAvro } from './avro';
export { walkCbor } from './cbor';
export { readFrames } from './frames';
export { readHeader, readHeaders } from './headers';
export { ASKS_WALKER, BARREN, NUMBERS_LEFT, walkJson } from './json';
export { findNeedles } from './needles';
export { walkProtobuf } from './protobuf';
