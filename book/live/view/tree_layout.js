// Where each branch of a beam search stands in its picture.

/** @typedef {{branch: Branch, kept: boolean}} Shown */
/** @typedef {Shown & {x: number, y: number}} Leaf */

const LEAST_SHOWN = 0.005; // a branch that was cut is drawn if it was as probable as this
const CUT_SHOWN = 3; // such branches of one parent, at most
const [COLUMN, ROW, MARGIN] = [76, 36, 22];

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
 * @param {Branch[]} tree
 * @param {number[][]} steps
 * @returns {{leaves: Leaf[], width: number, height: number}}
 */
function layOut(tree, steps) {
  const leaves = shownBranches(tree, steps).map((one) => ({ ...one, x: 0, y: 0 }));
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
    leaf.x = MARGIN / 2 + leaf.branch.depth * COLUMN;
    const middle = (below[0] + below[below.length - 1]) / 2;
    leaf.y = below.length ? middle : MARGIN + ROW * rows++;
    return leaf.y;
  };
  place(leaves[0]);
  const deepest = Math.max(...leaves.map((leaf) => leaf.branch.depth));
  return { leaves, width: (deepest + 1) * COLUMN + MARGIN, height: rows * ROW + MARGIN };
}
