/**
 * What the parts of the JSON kernel say of a payload.
 */

/** It is JSON as far as was looked. */
export const JSON_GOOD: i32 = 0;
/** It is not JSON, or nested too deep. */
export const JSON_BROKEN: i32 = 1;
/** The portable walker has to tell. */
export const JSON_ASKS: i32 = 2;
