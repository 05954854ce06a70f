//! The machine this process runs on.

use std::path::Path;

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use super::{Origin, Seen};

/// CPU, cores, memory and kernel of this machine, and the container that a target shares with us; what
/// cannot be read is left out.
pub(super) fn pins(origin: &Origin) -> Vec<Seen> {
    let machine = Machine::look();
    let container = match origin {
        // A server that somebody started may run in another one.
        Origin::Elsewhere => None,
        Origin::Embedded | Origin::Launched(_) => Some(container()),
    };
    let values = [
        ("host.kernel", machine.kernel),
        ("host.cores", machine.cores.map(|cores| cores.to_string())),
        ("host.cpu", machine.cpu),
        ("host.memory", machine.memory),
        ("host.container", container),
    ];
    let seen = values.into_iter();
    seen.filter_map(|(pin, value)| Seen::new(pin, value?, "host"))
        .collect()
}

/// This client, and what it runs on.
pub(super) fn client_pins() -> Vec<Seen> {
    let Machine {
        cpu,
        cores,
        kernel: _,
        memory: _,
    } = Machine::look();
    let cores = cores.map(|cores| match cores {
        1 => "1 core".to_owned(),
        several => format!("{several} cores"),
    });
    let parts: Vec<String> = [cpu, cores].into_iter().flatten().collect();
    let version = Seen::new("client.version", env!("CARGO_PKG_VERSION"), "client");
    let host = Seen::new("client.host", parts.join(", "), "client");
    version.into_iter().chain(host).collect()
}

struct Machine {
    cpu: Option<String>,
    cores: Option<usize>,
    memory: Option<String>,
    kernel: Option<String>,
}

impl Machine {
    fn look() -> Self {
        let kinds = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(kinds).ok();
        let cpu = system.as_ref().and_then(|system| {
            let brand = system.cpus().first()?.brand().trim();
            Some(brand.to_owned()).filter(|brand| !brand.is_empty())
        });
        let memory = system.map(|system| {
            let gib = system.total_memory() as f64 / f64::from(1 << 30);
            format!("{gib:.0} GiB")
        });
        Self {
            cpu,
            cores: std::thread::available_parallelism().ok().map(usize::from),
            memory,
            kernel: System::kernel_version().ok(),
        }
    }
}

/// What holds this process: the image where Podman names it, the kind, or `none`.
fn container() -> String {
    if let Ok(text) = std::fs::read_to_string("/run/.containerenv") {
        return image(&text).map_or_else(|| "podman".to_owned(), |image| format!("podman {image}"));
    }
    let marks = [
        ("/var/run/secrets/kubernetes.io", "kubernetes"),
        ("/.dockerenv", "docker"),
    ];
    let found = marks.iter().find(|(path, _)| Path::new(path).exists());
    found.map_or("none", |(_, kind)| kind).to_owned()
}

/// The image in Podman's file: `image="quay.io/vllm:0.11"`.
fn image(text: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("image="));
    let image = lines.next()?.trim_matches('"');
    (!image.is_empty()).then(|| image.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_cores() {
        let has = |seen: &[Seen], path| seen.iter().any(|seen| seen.pin.as_str() == path);
        let elsewhere = pins(&Origin::Elsewhere);
        assert!(has(&elsewhere, "host.cores") && !has(&elsewhere, "host.container"));
        assert!(has(&pins(&Origin::Embedded), "host.container"));
        assert!(has(&client_pins(), "client.version") && has(&client_pins(), "client.host"));
    }

    #[test]
    fn podman_names_its_image() {
        let text = "engine=\"podman-5\"\nimage=\"quay.io/vllm:0.11\"\nrootless=1\n";
        assert_eq!(image(text).as_deref(), Some("quay.io/vllm:0.11"));
        assert_eq!(image("engine=\"podman-5\"\n"), None);
    }
}
