/**
 * What validation warns of: a closed set of reasons (contract: scan-protocol §2, `warnings`).
 *
 * A warning never changes what a filter selects. Everything named here is legal; each is either ignored, said in a way
 * that is rarely meant, or worth knowing before the filter runs over a log.
 */

/** Every reason with what it says, one sentence each. */
export const WARNING_REASONS = {
  unknown_member: 'a member that this language does not know; it is ignored and not in the digest',
  more_unknown_members: 'how many more unknown members there were than are listed',
  never_true: 'a predicate that can never match where another one, which also has to match, does',
  always_true: 'alternatives that between them match every record that can be evaluated',
  number_against_text: 'a number compared with what is text, or digits in text compared as text',
  header_key_case: 'a header key that differs only by case from another one or from a reserved one',
  not_over_missing:
    'a negated test of a field or header that may be missing: unknown stays unknown and is not selected',
  duplicate_child: 'a child that stands twice in one group',
  redundant_group: 'a group of one, a group within a group of its own kind, or a double negation',
  in_single_item: 'an `in` of one item, which says `eq`',
  in_repeated_item: 'an item of `in` that equals an earlier one',
  matches_any_text: 'a pattern that every text matches',
  glob_without_wildcards: 'a glob without `*` and `?`, which says `equals`',
  glob_never_its_own_text: 'a glob that ignores case and does not match its own text: it is lowered letter by letter',
  regex_literal: 'a regex of plain characters, which a literal kind finds without an engine',
  regex_leading_any: 'a regex that begins with `.*`, though a regex is found anywhere',
  headers_only_possible: 'a filter that reads only headers under a codec for payloads',
  unknown_schema: 'a schema id that stands for nothing here; a scan with this filter is refused',
  schema_of_other_codec: 'a schema id whose schema is of another codec than the filter',
  path_not_in_schema: 'a path that some schema of the filter does not have, or an absence that always holds',
  type_never_compares: 'a literal or test of a type that, by the schemas of the filter, never stands there',
  heavy: 'what makes the filter heavy: a regex, or a text that has to be lowered',
  heavy_first: 'a heavy text match that runs before cheaper tests of the same `all`',
} as const;

export type WarningReason = keyof typeof WARNING_REASONS;
