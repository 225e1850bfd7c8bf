/**
 * Returns the bytes that common terminals send for a key. For keys that only newer terminals know, it returns kitty's
 * bytes.
 */
export const bytesOf = (name: string): string => {
  const [, letter] = /^ctrl\+([a-z])$/.exec(name) ?? [];
  const sent = letter === undefined ? sequences[name] : String.fromCodePoint(letter.charCodeAt(0) - 96);
  if (sent === undefined) throw new Error(`what a terminal sends for ${name} is not in the table of this test`);
  return sent;
};

const sequences: Readonly<Record<string, string>> = {
  enter: "\r",
  "alt+enter": "\x1b\r",
  "shift+enter": "\x1b[13;2u",
  tab: "\t",
  "shift+tab": "\x1b[Z",
  escape: "\x1b",
  backspace: "\x7f",
  "shift+backspace": "\x1b[127;2u",
  "alt+backspace": "\x1b\x7f",
  "ctrl+backspace": "\x1b[127;5u",
  delete: "\x1b[3~",
  "ctrl+delete": "\x1b[3;5~",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  "ctrl+right": "\x1b[1;5C",
  "ctrl+left": "\x1b[1;5D",
  "alt+right": "\x1b[1;3C",
  "alt+left": "\x1b[1;3D",
  "alt+b": "\x1bb",
  "alt+d": "\x1bd",
  "alt+f": "\x1bf",
  home: "\x1b[H",
  end: "\x1b[F",
  "ctrl+home": "\x1b[1;5H",
  "ctrl+end": "\x1b[1;5F",
  pageup: "\x1b[5~",
  pagedown: "\x1b[6~",
};
