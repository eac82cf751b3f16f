/**
 * A parsed payload path (contract: laser-filter §2), shared by filters, codecs and the scan.
 *
 * A string is a key into an object, a number an index into an array; a step that does not fit the value makes the
 * field missing. The empty path is the whole payload.
 */
export type Path = readonly (string | number)[];
