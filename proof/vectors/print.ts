/** Prints a JSON value so that a difference between versions names the step: each member, step and entry has one line. */
export const printed = (value: unknown): string => `${lines(value, "")}\n`;

const widthMax = 120;
/** As deep as a step, or a member of the machine's options. */
const depthMax = 2;

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
