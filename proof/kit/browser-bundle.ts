import { fileURLToPath } from "node:url";

import { type OutputOptions, rolldown, type RolldownPluginOption } from "rolldown";

export const bundleForBrowser = async (
  source: URL,
  output: OutputOptions = {},
  plugins: RolldownPluginOption = [],
): Promise<string> => {
  const bundled = await rolldown({ input: fileURLToPath(source), platform: "browser", plugins });
  const generated = await bundled.generate({ format: "es", ...output });
  await bundled.close();
  return generated.output[0].code;
};
