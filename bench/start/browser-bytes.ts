import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

export interface Size {
  readonly bytes: number;
  readonly zipped: number;
}

/** Returns the size of the code that a browser loads from packages in a folder: all their exports, minified. */
export const browserBytes = async (
  folder: string,
  names: readonly string[],
): Promise<{ /** Without foreign code. */ readonly own: Size; readonly whole: Size }> => ({
  own: await sizeOf(folder, names, [/^xstate/, /\/(fp-ts|zod)\.js$/]),
  whole: await sizeOf(folder, names, []),
});

const sizeOf = async (folder: string, names: readonly string[], external: RegExp[]): Promise<Size> => {
  const source = names.map((name, index) => `export * as part${index} from ${JSON.stringify(name)};`).join("\n");
  const entry = `${folder}/browser.js`;
  const bundled = await rolldown({
    input: entry,
    platform: "browser",
    external,
    plugins: [
      { name: "entry", resolveId: (id) => (id === entry ? id : null), load: (id) => (id === entry ? source : null) },
    ],
  });
  const { output } = await bundled.generate({ format: "es", minify: true });
  await bundled.close();
  const code = output.map((file) => (file.type === "chunk" ? file.code : "")).join("");
  return { bytes: Buffer.byteLength(code), zipped: gzipSync(code, { level: 9 }).length };
};
