/**
 * An address as a terminal may be given it to open, null where it may not: it goes to the web or to a mailbox, and
 * is written in characters of ASCII that show.
 */
export const linkTarget = (address: string): string | null => {
  if (unsafe.test(address) || address.length > lengthMax || !URL.canParse(address)) return null;
  const { protocol, href } = new URL(address);
  return protocols.has(protocol) ? href : null;
};

/** `URL` would take them out without a word. */
const unsafe = /[\s\p{C}]/u;

const protocols: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** Terminals keep no more. */
const lengthMax = 2000;
