import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { mistakes as ofRestate } from "../../../proof/chaos/restate/faults.ts";
import { mistakes as ofServer } from "../../../proof/chaos/server/questions.ts";
import { mistakes as ofTabs } from "../../../proof/chaos/tabs/faults.ts";

const root = join(import.meta.dirname, "../../..");

test.each([ofRestate, ofServer, ofTabs].flatMap((each) => Object.values(each)).flat())(
  "the text that a mistake is put in place of is in $file once",
  ({ file, text }) => {
    expect(readFileSync(join(root, file), "utf8").split(text)).toHaveLength(2);
  },
);
