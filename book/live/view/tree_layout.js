// Where each branch of a beam search stands in its picture.

/** @typedef {{branch: Branch, kept: boolean}} Shown */
/** @typedef {Shown & {name: string, x: number, y: number}} Leaf */

const LEAST_SHOWN = 0.005; // a branch that was cut is drawn if it was as probable as this
const CUT_SHOWN = 3; // such branches of one parent, at most
const [LETTER, GAP, ROW, MARGIN] = [7.6, 22, 36, 22]; // in pixels

/**
 * Choose the branches to draw: those kept, and the most probable of those cut.
 * @param {Branch[]} tree
 * @param {number[][]} steps
 * @returns {Shown[]}
 */
function shownBranches(tree, steps) {
  const kept = new Set(steps.flat());
  /** @type {Map<number, number>} how many of a parent's were cut */
  const cut = new Map();
  return tree
    .map((branch) => ({ branch, kept: kept.has(branch.id) }))
    .filter(({ branch, kept: isKept }) => {
      if (isKept) return true;
      const before = cut.get(branch.parent) ?? 0;
      cut.set(branch.parent, before + 1);
      return Math.exp(branch.logProb) >= LEAST_SHOWN && before < CUT_SHOWN;
    });
}

/**
 * Give every branch a place: its depth to the right, its children around its height.
 * @param {Answer} answer
 * @returns {{leaves: Leaf[], column: number, width: number, height: number}}
 */
function layOut({ tree, steps, names }) {
  const leaves = shownBranches(tree, steps).map((one) => {
    return { ...one, name: names[one.branch.id], x: 0, y: 0 };
  });
  const column = LETTER * Math.max(...leaves.map((leaf) => leaf.name.length)) + GAP;
  /** @type {Map<number, Leaf[]>} */
  const children = new Map();
  for (const leaf of leaves) {
    const { parent } = leaf.branch;
    children.set(parent, [...(children.get(parent) ?? []), leaf]);
  }
  let rows = 0;
  /** @type {(leaf: Leaf) => number} */
  const place = (leaf) => {
    const below = (children.get(leaf.branch.id) ?? []).map(place);
    leaf.x = MARGIN / 2 + leaf.branch.depth * column;
    const middle = (below[0] + below[below.length - 1]) / 2;
    leaf.y = below.length ? middle : MARGIN + ROW * rows++;
    return leaf.y;
  };
  place(leaves[0]);
  const deepest = Math.max(...leaves.map((leaf) => leaf.branch.depth));
  const [width, height] = [(deepest + 1) * column, rows * ROW + MARGIN];
  return { leaves, column, width, height };
}
