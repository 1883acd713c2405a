// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//! Serves a compiled model from Rust.
//!
//!     rustc --edition 2021 -O examples/deploy/serve.rs
//!     serve MODEL.so WEIGHTS.safetensors < requests > responses
//!
//! A request is the bytes of all inputs, one after the other, and a response those of all
//! outputs. The library is opened at run time, and says itself what its inputs and outputs are:
//! one program serves every model. No crates are needed.

use std::ffi::{c_void, CStr, CString};
use std::io::{self, Read, Write};
use std::mem::size_of;
use std::os::raw::{c_char, c_int};
use std::ptr;

/// `fact/Runtime/Library.h` and DLPack, as far as this program uses them.
mod ffi {
    use super::*;

    pub const ABI: u32 = 1;
    pub const CPU: i32 = 1;

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct DataType {
        pub code: u8,
        pub bits: u8,
        pub lanes: u16,
    }

    #[repr(C)]
    pub struct Tensor {
        pub data: *mut c_void,
        pub device_type: i32,
        pub device_id: i32,
        pub ndim: i32,
        pub dtype: DataType,
        pub shape: *const i64,
        pub strides: *const i64,
        pub byte_offset: u64,
    }

    #[repr(C)]
    pub struct TensorInfo {
        pub name: *const c_char,
        pub dtype: DataType,
        pub ndim: i32,
        pub shape: *const i64,
        pub bytes: u64,
        pub baked: i32,
    }

    #[repr(C)]
    pub struct Model {
        _private: [u8; 0],
    }

    pub type List = unsafe extern "C" fn(count: *mut i64) -> *const TensorInfo;

    /// The beginning of the table: functions are only ever added to its end.
    #[repr(C)]
    pub struct Library {
        pub abi: u32,
        pub bytes: u32,
        pub describe: unsafe extern "C" fn() -> *const c_char,
        pub create: unsafe extern "C" fn(weights: *const c_void, count: i64) -> *mut Model,
        pub set_weights:
            unsafe extern "C" fn(model: *mut Model, weights: *const c_void, count: i64) -> c_int,
        pub run: unsafe extern "C" fn(
            model: *mut Model,
            inputs: *const *mut Tensor,
            input_count: i64,
            outputs: *const *mut Tensor,
            output_count: i64,
            stream: *mut c_void,
        ) -> c_int,
        pub destroy: unsafe extern "C" fn(model: *mut Model),
        pub last_error: unsafe extern "C" fn() -> *const c_char,
        pub load: unsafe extern "C" fn(path: *const c_char) -> *mut Model,
        pub load_weights: unsafe extern "C" fn(model: *mut Model, path: *const c_char) -> c_int,
        pub error: unsafe extern "C" fn(model: *const Model) -> *const c_char,
        pub inputs: List,
        pub outputs: List,
        pub weights: List,
        pub device_type: unsafe extern "C" fn() -> i32,
    }

    pub const RTLD_NOW: c_int = 2;

    #[link(name = "dl")]
    extern "C" {
        pub fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
        pub fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
        pub fn dlerror() -> *const c_char;
    }
}

type Result<T> = std::result::Result<T, String>;

/// Copies a message of the library, which is valid until the next call.
unsafe fn text(message: *const c_char) -> String {
    CStr::from_ptr(message).to_string_lossy().into_owned()
}

fn c_string(path: &str) -> Result<CString> {
    CString::new(path).map_err(|_| format!("{path:?} has a zero byte"))
}

/// The table of the library at `path`, which stays open for as long as the process runs.
fn open(path: &str) -> Result<&'static ffi::Library> {
    let path = c_string(path)?;
    let name = c_string("fact_library")?;
    unsafe {
        let handle = ffi::dlopen(path.as_ptr(), ffi::RTLD_NOW);
        if handle.is_null() {
            return Err(text(ffi::dlerror()));
        }
        let symbol = ffi::dlsym(handle, name.as_ptr());
        if symbol.is_null() {
            return Err(text(ffi::dlerror()));
        }
        let table: unsafe extern "C" fn() -> *const ffi::Library = std::mem::transmute(symbol);
        let library = &*table();
        if library.abi != ffi::ABI || (library.bytes as usize) < size_of::<ffi::Library>() {
            return Err("the library was compiled by another version of FACT".into());
        }
        if (library.device_type)() != ffi::CPU {
            return Err("the library was compiled for a GPU; serve has host memory".into());
        }
        Ok(library)
    }
}

/// All inputs or all outputs: memory, and DLPack's description of it.
struct Tensors {
    /// As words, which are aligned for elements of any type. Never resized: `tensors` has pointers.
    memory: Vec<Vec<u64>>,
    sizes: Vec<usize>,
    tensors: Vec<ffi::Tensor>,
}

impl Tensors {
    fn new(list: ffi::List) -> Tensors {
        let mut count = 0;
        let infos = unsafe {
            let first = list(&mut count);
            if count == 0 { &[] } else { std::slice::from_raw_parts(first, count as usize) }
        };
        let sizes: Vec<usize> = infos.iter().map(|info| info.bytes as usize).collect();
        let mut memory: Vec<_> = sizes.iter().map(|size| vec![0u64; (size + 7) / 8]).collect();
        let describe = |(info, words): (&ffi::TensorInfo, &mut Vec<u64>)| ffi::Tensor {
            data: words.as_mut_ptr().cast(),
            device_type: ffi::CPU,
            device_id: 0,
            ndim: info.ndim,
            dtype: info.dtype,
            shape: info.shape,
            strides: ptr::null(), // Row-major.
            byte_offset: 0,
        };
        let tensors = infos.iter().zip(&mut memory).map(describe).collect();
        Tensors { memory, sizes, tensors }
    }

    /// The bytes of each tensor.
    fn bytes(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.memory.iter_mut().zip(&self.sizes).map(|(words, size)| unsafe {
            std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), *size)
        })
    }

    fn pointers(&mut self) -> Vec<*mut ffi::Tensor> {
        self.tensors.iter_mut().map(|tensor| tensor as *mut _).collect()
    }

    /// Reads a request; false at the end of the input.
    fn read(&mut self, mut from: impl Read) -> Result<bool> {
        let (mut size, mut done) = (0, 0);
        for bytes in self.bytes() {
            size += bytes.len();
            let mut filled = 0;
            while filled < bytes.len() {
                match from.read(&mut bytes[filled..]).map_err(|error| error.to_string())? {
                    0 => break,
                    count => filled += count,
                }
            }
            done += filled;
        }
        match done {
            0 => Ok(false),
            _ if done < size => Err("the last request is too short".into()),
            _ => Ok(true),
        }
    }

    fn write(&mut self, mut to: impl Write) -> io::Result<()> {
        for bytes in self.bytes() {
            to.write_all(bytes)?;
        }
        to.flush()
    }
}

/// One instance. Separate threads use separate ones.
struct Model {
    library: &'static ffi::Library,
    model: *mut ffi::Model,
}

impl Model {
    fn load(library: &'static ffi::Library, weights: &str) -> Result<Model> {
        let weights = c_string(weights)?;
        let model = unsafe { (library.load)(weights.as_ptr()) };
        if model.is_null() {
            return Err(unsafe { text((library.last_error)()) });
        }
        Ok(Model { library, model })
    }

    fn run(&mut self, inputs: &mut Tensors, outputs: &mut Tensors) -> Result<()> {
        let (inputs, outputs) = (inputs.pointers(), outputs.pointers());
        let status = unsafe {
            (self.library.run)(
                self.model,
                inputs.as_ptr(),
                inputs.len() as i64,
                outputs.as_ptr(),
                outputs.len() as i64,
                ptr::null_mut(),
            )
        };
        if status != 0 {
            return Err(unsafe { text((self.library.error)(self.model)) });
        }
        Ok(())
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe { (self.library.destroy)(self.model) }
    }
}

fn serve(library: &str, weights: &str) -> Result<()> {
    let library = open(library)?;
    let mut model = Model::load(library, weights)?;
    let mut inputs = Tensors::new(library.inputs);
    let mut outputs = Tensors::new(library.outputs);
    while inputs.read(io::stdin().lock())? {
        model.run(&mut inputs, &mut outputs)?;
        outputs
            .write(io::stdout().lock())
            .map_err(|error| format!("cannot write the response: {error}"))?;
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 3 {
        eprintln!("usage: serve MODEL.so WEIGHTS.safetensors");
        std::process::exit(2);
    }
    if let Err(problem) = serve(&arguments[1], &arguments[2]) {
        eprintln!("serve: {problem}");
        std::process::exit(1);
    }
}
