/** The version of this build, as `package.json` has it (a test compares): shown by `build_info`, OpenAPI and the CLI. */
export const VERSION = '0.1.0';
