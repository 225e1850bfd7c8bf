import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

import { cacheFolder, librariesOf, makeOnce, unpackDebian } from "./debian-packages.ts";

/**
 * Returns the path of a headless Chromium: the installed one, else the one of Debian's packages, unpacked into the
 * cache or into the caller's folder.
 */
export const chromiumProgram = (folder: string): string => {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const paths = folders.flatMap((each) => [join(each, name), join(each, "chromium")]);
  return paths.find((path) => existsSync(path)) ?? unpacked(cacheFolder() ?? folder);
};

const name = "chromium-headless-shell";

/** Writes a script that sets the library path, since a program that starts a browser passes no environment. */
const unpacked = (folder: string): string => {
  const place = join(folder, `${name}-unpacked`);
  const script = join(place, name);
  makeOnce(place, (made) => {
    unpackDebian(/^(chromium-common|chromium-headless-shell|lib.*)$/, [name], made);
    const libraries = `${librariesOf(made)}:${librariesOf(made, "pulseaudio")}`.replaceAll(made, place);
    const program = join(place, "usr/lib/chromium", name);
    writeFileSync(join(made, name), `#!/bin/sh\nLD_LIBRARY_PATH="${libraries}" exec "${program}" "$@"\n`, {
      mode: 0o755,
    });
  });
  return script;
};
