import { describe, expect, test } from "vitest";

import { inFolder } from "../../../../proof/kit/folder.ts";
import { restateProgram } from "../../../../proof/servers/restate-package.ts";
import { type RestateServer, startRestate } from "../../../../proof/servers/restate.ts";

const isInstalled = restateProgram() !== null;
// The report shows the reason.
const leftOut = isInstalled ? "" : " (left out: `pnpm engines:install` gets it)";

describe.skipIf(!isInstalled)(`a Restate of our own${leftOut}`, () => {
  const isHealthy = async ({ url, adminUrl }: RestateServer): Promise<boolean> => {
    const looks = await Promise.all([fetch(`${url}/restate/health`), fetch(`${adminUrl}/health`)]);
    return looks.every(({ ok }) => ok);
  };

  test("takes calls as soon as it is started, and again where it was killed: the same folder, the same ports", () =>
    inFolder("restate", async (folder) => {
      const first = await startRestate({ folder });
      expect(await isHealthy(first)).toBe(true);
      await first.kill();
      const second = await startRestate({ folder, ports: first.ports });
      expect(second.url).toBe(first.url);
      expect(await isHealthy(second)).toBe(true);
      await second.stop();
    }));
});
