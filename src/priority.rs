//! Threads that may wait: they make way for those that send and read.

/// Has the scheduler prefer every other thread to the calling one.
///
/// Preparing requests and packing records takes milliseconds at a time; on a core that they share
/// with a lane, a token that arrives meanwhile would be seen that much later. Where the system has
/// no priority for a single thread, nothing happens.
pub fn make_way() {
    /// Of 19, a tenth of a thread's usual weight.
    #[cfg(target_os = "linux")]
    const NICE: i32 = 10;
    // Linux takes the calling thread alone for "this process". To be refused costs accuracy only.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, NICE);
}
