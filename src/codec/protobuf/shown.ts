/** Names out of a schema as refusals repeat them: quoted, and cut where they are long. */

const SHOWN_CHARACTERS_MAX = 120;

export function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_CHARACTERS_MAX ? `${name.slice(0, SHOWN_CHARACTERS_MAX)}…` : name);
}
