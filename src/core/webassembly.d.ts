/**
 * The part of the `WebAssembly` namespace that this project uses. The type packages at hand declare it only together
 * with the DOM, which has no place here.
 */
declare namespace WebAssembly {
  function validate(bytes: Uint8Array | ArrayBuffer): boolean;

  type ExportValue = ((...args: never[]) => unknown) | Memory | Table;
  type Exports = Record<string, ExportValue>;
  type Imports = Record<string, Record<string, unknown>>;

  class Module {
    constructor(bytes: Uint8Array | ArrayBuffer);
    static exports(module: Module): { name: string; kind: string }[];
    static imports(module: Module): { module: string; name: string; kind: string }[];
  }

  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Exports;
  }

  class Memory {
    constructor(descriptor: { initial: number; maximum?: number; shared?: boolean });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }

  class Table {
    readonly length: number;
    get(index: number): unknown;
    set(index: number, value?: unknown): void;
    grow(delta: number, value?: unknown): number;
  }

  class RuntimeError extends Error {}
}
