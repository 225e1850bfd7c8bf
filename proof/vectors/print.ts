/**
 * A JSON value as text for people and for differences between versions: what is not deep has a line for each member, and what is
 * deep, or fits on a line, stands on one.
 */
export const printed = (value: unknown): string => `${lines(value, "")}\n`;

const widthMax = 120;
/** As deep as the members of a state. */
const depthMax = 5;

const lines = (value: unknown, indent: string): string => {
  const inline = JSON.stringify(value);
  if (typeof value !== "object" || value === null) return inline;
  if (indent.length === depthMax || indent.length + inline.length <= widthMax) return inline;
  const inner = `${indent} `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const members = Array.isArray(value)
    ? value.map((item) => inner + lines(item, inner))
    : Object.entries(value).map(([name, member]) => `${inner}${JSON.stringify(name)}: ${lines(member, inner)}`);
  return `${open}\n${members.join(",\n")}\n${indent}${close}`;
};
