/**
 * JSON texts whose tokens stand across every place at which a walker that goes block by block could lose its thread: a
 * filler of any length comes first, so that each byte of a token comes to stand first and last in a block of 16, 32 or
 * 64 bytes.
 */

/** Contents of strings and keys, valid or not, without their quotes. */
export function stringContents(): string[] {
  const runs = Array.from({ length: 18 }, (_, length) => length).concat([31, 32, 33, 63, 64, 65, 66, 127, 128, 129]);
  return [
    runs.map((length) => '\\'.repeat(length)),
    runs.map((length) => `${'\\'.repeat(length)}"`),
    runs.map((length) => `${'\\'.repeat(length)}n`),
    runs.map((length) => `${'\\'.repeat(length)}u0041`),
    runs.map((length) => `${'\\\\'.repeat(length)}",1,"x`),
    ['\\ud83d\\ude80', '\\uD800\\uDC00\\uDBFF\\uDFFF', 'é\\ud83d\\ude80é', '\\u0000\\u0022\\u005c'],
    ['\\ud83d', '\\ude80', '\\ud83d\\u0041', '\\ud83dx\\ude80', '\\ude80\\ud83d', '\\ud83d\\n', '\\ud83d\\\\ude80'],
    ['\\u12', '\\u', '\\u00g0', '\\u0g00', '\\ug000', '\\u000g', '\\u 123', '\\U0041', '\\x41', '\\u00\\u0041'],
    ['\\a', '\\0', '\\\n', "\\'", '\\é', '\\/\\b\\f\\r\\t', '\\"\\"\\"\\"', '\\\\u0041', '\\\\\\u0041'],
    ['é', '€', '🚀', 'éé€€🚀🚀', '🚀€é', '\u07ff\u0800\uffff\u{10ffff}', '\u007f\u0080', '\ufeff'],
    ['\u0000', '\u0001', '\t', '\n', '\u001f', ' \u007f ', '{[,:]}', '}],{"a":1', ',"a":1,', '//', 'true,1e999'],
  ].flat();
}

/** String contents in hex whose bytes are UTF-8 or not, at the edges of what is. */
export const UTF8_CONTENTS: readonly string[] = [
  ['c280', 'dfbf', 'e0a080', 'ed9fbf', 'ee8080', 'efbfbf', 'f0908080', 'f48fbfbf', 'f3bfbfbf'],
  ['80', 'bf', '8080', 'c0', 'c080', 'c1bf', 'c2', 'c241', 'c2c280', 'c28080', 'df', 'dfc0'],
  ['e0', 'e080', 'e08080', 'e09fbf', 'e0a0', 'e0a041', 'e0a0c0', 'e28280', 'e2', 'e282', 'e28282e2', 'e2828080'],
  ['eda080', 'edbfbf', 'edafbfedb080', 'efbf', 'ef', 'ed', 'ee80', 'ee8041'],
  ['f0', 'f090', 'f09080', 'f0808080', 'f08fbfbf', 'f0904180', 'f0908041', 'f090808080', 'f0f0908080', 'f1808080'],
  ['f4908080', 'f5808080', 'f7bfbfbf', 'f888808080', 'fe', 'ff', 'fffe', 'feff', 'c3a9c3', 'c3a9a9', '41c341'],
].flat();

/** Values, valid or not. */
export const BLOCK_VALUES: readonly string[] = [
  ['true', 'false', 'null', 'tru', 'truee', 'true1', 'nul', 'nulll', 'fals', 'falsee', 'tRue', 'truenull', 'n', 't'],
  ['0', '-0', '-', '--1', '01', '-01', '00', '0.0', '0.', '.0', '-.5', '1.', '1.e1', '1.5.5', '1e5', '1E+5', '1e-5'],
  ['1e', '1e+', '1e-', '1ee5', '1e+-5', '1e5.5', '1e5e5', '1-2', '1+2', '+1', '1_0', '0x10', '1e05', '0e0', '1a'],
  ['123456789012345678901234567890', '-9223372036854775808', '18446744073709551615', '1.7976931348623157e308'],
  ['1e308', '1e309', '-1e309', '1e999', '1e-999', '5e-324', '0.1234567890123456789e-10', '9'.repeat(70)],
  [`0.${'0'.repeat(70)}1`, `1${'0'.repeat(70)}.5e-3`, `1e${'0'.repeat(66)}1`, `-${'1'.repeat(64)}`],
  ['1 2', '1\t', '1\u0001', 'true\u0001', '"a"\u0001', '1"a"', '"a"1', '"a""b"', 'true"a"', '"a"true', '1[', '1{'],
  ['[]', '{}', '[ ]', '{ }', '[,]', '[1,]', '[,1]', '[1,,2]', '{,}', '{"a":1,}', '[[]]', '[{}]', '{"a":{}}', '[}'],
  ['{]', '[1}', '{"a":1]', '[[1]', '[1]]', '{"a"}', '{"a":}', '{:1}', '{"a" "b"}', '{"a":1 "b":2}', '{a:1}', '{1:1}'],
  ['[1:2]', '{"a",1}', '{"a"::1}', '{"a":1:2}', '[:]', '[""]', '["",""]', '{"":""}', '{"a":"b","c":["d"]}'],
  ['[1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3]', `[${'[],'.repeat(30)}{}]`],
  [`[${'"",'.repeat(40)}""]`, `[${'[['.repeat(20)}${']]'.repeat(20)}]`, `[${'{"":'.repeat(30)}1${'}'.repeat(30)}]`],
  [
    '',
    ' ',
    ',',
    ':',
    ']',
    '}',
    '"',
    '\\',
    '\\"',
    '/',
    '//',
    '\u00a0',
    '\ufeff1',
    '\u00001',
    '\u000b1',
    '\f1',
    '\u007f',
  ],
].flat();

/** Members of an object whose keys some walker wants, in spellings and orders that are easily mixed up. */
export const BLOCK_MEMBERS: readonly string[] = [
  '"mode":"safe"',
  '"mode" : "safe" ',
  '"\\u006dode":1',
  '"mod\\u0065":1',
  '"m\\u006fde":"\\n"',
  '"mode":1,"mode":2',
  '"mode":1,"\\u006dode":null',
  '"\\u006dode":1,"mode":[2]',
  '"mode\\\\":1',
  '"mode\\"":1',
  '"\\"mode":1,"mode\\\\\\"":2',
  '"mod":1,"model":2,"Mode":3,"mode ":4',
  '"a":{"b":{"c":1}}',
  '"a":{"b":{"c":1,"d":2}},"a":{"b":{"d":3}}',
  '"a":{"b":{"c":1}},"a":5,"a":{"b":{"c":2}}',
  '"a":{"a":1,"b":2,"\\u0061":3}',
  '"a":[true,[false]],"c":[0,1,2,3]',
  '"a":[[0],1],"a":[]',
  '"c":[[],{},"x"],"b":{"é":1,"e":2}',
  '"b":{"\\u00e9":1.5}',
  '"b":{"é":1,"\\u00E9":18446744073709551615}',
  '"é":{"k\\"y":1,"k\\\\\\"y":2}',
  '"\\u00e9":{"k\\u0022y":"\\\\"}',
  '"":1,"":2',
  '"\\u0000":1,"":"x"',
  '"键":{"🛰":1}',
  '"\\u952e":{"\\ud83d\\udef0":-0}',
  '"键":{"\\ud83d🛰":1}',
  '"a.b":1e2,"a":{"b":2}',
  '"a":"}","mode":"]","b":"{[,:"',
  '"a":"\\\\","mode":"\\\\\\\\"',
  '"a":"\\"","mode":"\\\\\\""',
  '"mode":tru,"a":1',
  '"mode":1 "a":1',
  '"mode","a":1',
];

/** Structure, good and broken, with a run of white space wherever a `_` stands. */
export const SPACED_TEXTS: readonly string[] = [
  ['_', '_{}_', '_[_]_', '_{_}_', '[_1_,_2_]', '{_"a"_:_1_,_"b"_:_[_]_}', '[_true_,_null_,_-1.5e3_,_"x"_,_{_}_]'],
  ['{"mode"_:_"x"_,_"a"_:_{_"b"_:_{_"c"_:_7_}_}_}', '[[_[]_]_,_[_]_]', '{"c"_:_[_0_,_1_,_2_]_}', '_"x"_', '_12_'],
  ['[1,_]', '[_,1]', '[1,_,2]', '{"a":1,_}', '{_,"a":1}', '{"a":_}', '{"a":_,"b":1}', '{"a"_1}', '{_:1}', '{"a"_}'],
  ['{"a"_"b":1}', '{"a":1_"b":2}', '{"a":1:_2}', '["a"_"b"]', '[1_2]', '[1_:2]', '[true_false]', '[[]_[]]', '[{}_{}]'],
  [
    '["a"_1]',
    '[1_"a"]',
    '[[]_1]',
    '[1_[]]',
    '{"a":{}_{}}',
    '{"a":[]_"b":1}',
    '{}_x',
    '{}_{}',
    '[]_,',
    '{}_,_1',
    '[]_,_"a"',
    '{}_:_1',
    '[]_"a"',
    '[]_]',
    '{_',
    '[_',
  ],
  [
    '[-_1]',
    '[1_.5]',
    '[1._5]',
    '[1e_5]',
    '[1e-_5]',
    '[tr_ue]',
    '["\\_"]',
    '["\\u00_41"]',
    '{"a_":1}',
    '[1_e5]',
    '{"a":_1',
  ],
].flat();

/** Ways to stand behind `length` bytes or a little more; `value` is a JSON value where the text is to be JSON. */
export const BEHIND_FILLER: readonly ((value: string, length: number) => string)[] = [
  (value, length) => ' '.repeat(length) + value,
  (value, length) => `["${'x'.repeat(length)}",${value}]`,
  (value, length) => `{"${'k'.repeat(length)}":${value}}`,
  (value, length) => `[${'0,'.repeat(length >> 1)}${' '.repeat(length & 1)}${value}]`,
  (value, length) => `{"a":"${'\\\\'.repeat(length >> 1)}${'-'.repeat(length & 1)}","mode":${value},"b":null}`,
  (value, length) => `{"unread":[${'[],'.repeat(length / 3)}${' '.repeat(length % 3)}[${value}]],"c":[1,2,"x"]}`,
  (value, length) => `{"a":{"b":{"c":${' '.repeat(length)}${value}}}}${'\n'.repeat(length)}`,
];

/** Ways for the content of a string to stand behind `length` bytes of it: read, not read, and as a key. */
export const INSIDE_STRING: readonly ((content: string, length: number) => string)[] = [
  (content, length) => `"${'x'.repeat(length)}${content}"`,
  (content, length) => `{"mode":"${'x'.repeat(length)}${content}","a":1}`,
  (content, length) => `{"unread":"${'é'.repeat(length >> 1)}${'-'.repeat(length & 1)}${content}","mode":true}`,
  (content, length) => `{"${'x'.repeat(length)}${content}":1,"a":"${content}"}`,
  (content, length) => `[1,"${content}${'x'.repeat(length)}${content}"${' '.repeat(length)},{"a":2}]`,
];
