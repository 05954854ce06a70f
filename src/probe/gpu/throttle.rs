//! Why clocks are held back, as the driver's mask of bits has it.

use std::collections::BTreeSet;

use crate::sample::Throttle;

/// The bits, by the driver's own header. Idling (bit 0) holds nothing back.
const BITS: [(u64, Throttle); 8] = [
    (0x002, Throttle::ClocksSetting),
    (0x004, Throttle::PowerCap),
    (0x008, Throttle::HardwareSlowdown),
    (0x010, Throttle::SyncBoost),
    (0x020, Throttle::SoftwareThermal),
    (0x040, Throttle::HardwareThermal),
    (0x080, Throttle::PowerBrake),
    (0x100, Throttle::ClocksSetting),
];

/// The reasons in a mask: of 0x44 the power cap and heat that hardware answered.
pub(super) fn reasons(mask: u64) -> BTreeSet<Throttle> {
    let set = BITS.iter().filter(|(bit, _)| mask & bit != 0);
    set.map(|(_, reason)| *reason).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idling_is_no_reason() {
        assert!(reasons(0x1).is_empty());
        let both = BTreeSet::from([Throttle::PowerCap, Throttle::HardwareThermal]);
        assert_eq!(reasons(0x44), both);
        assert_eq!(reasons(0x102), BTreeSet::from([Throttle::ClocksSetting]));
        assert!(reasons(1 << 40).is_empty(), "of a later driver");
    }
}
