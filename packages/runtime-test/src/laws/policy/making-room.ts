import { roomIn } from "./fitting.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import { cutNamed, type Look, lookNamed, type PolicyLaw, type PolicyRun } from "./policy-run.ts";
import { hasWordsIn } from "./shown.ts";
import { fixedIn, tokensOf, wholeOf, withGapsFilled, withoutLeftOut } from "../evidence/said-units.ts";

/** Returns the looks at which a policy could make room: the whole thread does not fit, but the mandatory part does. */
export const tightLooks = ({ views, counter, options }: PolicyRun): readonly Look[] =>
  views.flatMap(({ looks, calibration }) =>
    looks.filter((look) => {
      const room = roomIn(look, calibration);
      if (room === null || look.prompt.failed !== undefined) return false;
      const said = withoutLeftOut(withGapsFilled(look.said, look.prompt.messages), options);
      const [fixed, whole] = [tokensOf(counter, fixedIn(said, hasWordsIn(look))), tokensOf(counter, wholeOf(said))];
      return fixed !== null && whole !== null && fixed <= room && whole > room;
    }),
  );

/**
 * Checks P4 for policies that leave out more if there is less room. Other policies need not intend to make room: they
 * decide the same for every budget, or only shorten.
 */
export const makesRoomIfMeant: PolicyLaw = (run) => {
  const isMeant = run.views.some(({ looks }) => new Set(looks.map(leftOutIn)).size > 1);
  if (isMeant) makesRoom(run);
};

const leftOutIn = ({ prompt: { cut } }: Look): string => JSON.stringify([cut.from, cut.dropped]);

/** Checks P4 for policies that must make room: their prompt fits whenever the mandatory part does. */
export const makesRoom = (run: PolicyRun): void => {
  const look = tightLooks(run).find(({ prompt }) => !prompt.fits);
  if (look === undefined) return;
  const { tokens, available } = look.prompt;
  throw new LawBroken(
    "P4",
    `${lookNamed(look)} shows ${tokens} tokens, there is room for ${available}, and what must be shown would fit; ${cutNamed(look)}`,
  );
};
