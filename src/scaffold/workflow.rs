//! A workflow of GitHub Actions that gates pull requests by a spec.

use super::spec::Place;
use crate::ident::Name;

const TEMPLATE: &str = include_str!("../../templates/workflow.yaml");

const URLS: &str = "\
      # Both servers run already; the variables BASELINE_URL and CANDIDATE_URL name them.
      - name: compare
        env:
          BASELINE_URL: ${{ vars.BASELINE_URL }}
          CANDIDATE_URL: ${{ vars.CANDIDATE_URL }}
          GITHUB_TOKEN: ${{ github.token }}
        run: >-
          infergate ab @SPEC@ --baseline-url \"$BASELINE_URL\" --candidate-url \"$CANDIDATE_URL\" --publish github";

const LAUNCHES: &str = "\
      # The spec's `target` is the candidate, its `baseline` what it is compared with; each is started in turn.
      # Build or fetch both before this step.
      - name: compare
        env:
          GITHUB_TOKEN: ${{ github.token }}
        run: infergate ab @SPEC@ --publish github";

const EMBEDDED: &str = "\
      # The embedded engine against itself, until the spec names yours.
      - name: compare
        env:
          GITHUB_TOKEN: ${{ github.token }}
        run: infergate ab @SPEC@ --publish github";

const OWN_MACHINE: &str = "\
    # A machine with the GPU that the spec pins, and nothing else to do meanwhile.
    runs-on: [self-hosted, linux, gpu]";

const ANY_MACHINE: &str = "    runs-on: ubuntu-24.04";

/// The workflow of the spec of this name, below `infergate/`.
pub fn workflow(name: &Name, place: &Place) -> String {
    let (runs_on, compare) = match place {
        Place::Url(_) => (OWN_MACHINE, URLS),
        Place::Launch { .. } => (OWN_MACHINE, LAUNCHES),
        Place::Embedded(_) => (ANY_MACHINE, EMBEDDED),
    };
    TEMPLATE
        .replace("@RUNS_ON@", runs_on)
        .replace("@COMPARE@", compare)
        .replace("@SPEC@", &format!("infergate/{name}.yaml"))
}
