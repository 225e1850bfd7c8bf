/**
 * Returns an address that a terminal may open, otherwise null. It must be a web or mail address, in visible ASCII
 * characters.
 */
export const linkTarget = (address: string): string | null => {
  if (unsafe.test(address) || address.length > lengthMax || !URL.canParse(address)) return null;
  const { protocol, href } = new URL(address);
  return protocols.has(protocol) ? href : null;
};

/** Matches characters that `URL` would remove silently. */
const unsafe = /[\s\p{C}]/u;

const protocols: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The longest address that terminals keep. */
const lengthMax = 2000;
