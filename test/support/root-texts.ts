/** Texts of more than one root, or of one and something else: JSON only where nothing but white space stands beside it. */

const ROOTS = ['[]', '{}', '[1]', '{"a":1}', '[[],{}]', '{"a":[{"b":"]}"}]}', '1', '"x"', 'null'];
const BETWEEN = ['', ' ', ',', ' , ', ',,', ':', ';', '\n', '\t,', '"', '\\', '\u0001', '\u00a0', ']', '}', '[', '{'];
const SECOND = ['', '[]', '{}', '[1]', '{"a":2}', '1', '"x"', 'true', ',', ']', '}', ' '];

/** Every first root with every join and second root, behind `length` bytes of the first root's own. */
export function rootTexts(length: number): string[] {
  const first = `["${'x'.repeat(length)}"]`;
  return [...ROOTS, first].flatMap((root) => BETWEEN.flatMap((join) => SECOND.map((second) => root + join + second)));
}
